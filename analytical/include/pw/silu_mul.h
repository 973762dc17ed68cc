#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pw/features.h"
#include "pw/fields.h"

namespace pw {

// SiLU(gate) * up over `seq` rows, bf16, one CTA per row. `dim` is the width of the kernel's INPUT
// row, gate and up together: 2 * intermediate / tp, at least 8. Without a gate it is an activation
// alone, such as GELU, which writes as much as it reads.
struct SiluMulConfig {
  static constexpr std::string_view kName = "siluandmul";
  static constexpr std::array<std::string_view, 2> kProblemColumns{"seq", "dim"};
  static const FeatureTable& features() { return fma_xu_memory_features(); }
  static SiluMulConfig read(const Fields& fields);

  std::int64_t seq = 0;
  std::int64_t dim = 0;
  bool gated = true;
};

}  // namespace pw
