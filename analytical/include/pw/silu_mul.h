#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pw/family.h"
#include "pw/features.h"
#include "pw/fields.h"

namespace pw {

// SiLU(gate) * up over `seq` rows, bf16, one CTA per row. `dim` is the width of the kernel's INPUT
// row, gate and up together: 2 * intermediate / tp, at least 8. Without a gate it is an activation
// alone, such as GELU, which writes as much as it reads.
struct SiluMulConfig {
  static constexpr std::string_view kName = "siluandmul";
  static const FeatureTable& features() { return fma_xu_memory_features(); }
  static SiluMulConfig read(const Fields& fields);

  std::int64_t seq = 0;
  std::int64_t dim = 0;
  bool gated = true;

  static constexpr std::int64_t kLeastWidth = 8;  // one vector of 16 bytes
  static constexpr std::array<Number<SiluMulConfig>, 2> kNumbers{
      {{"seq", &SiluMulConfig::seq, 0}, {"dim", &SiluMulConfig::dim, kLeastWidth}}};
  std::int64_t tokens() const { return seq; }
  std::string described() const {
    return described_numbers(*this) + (gated ? "" : " without gate");
  }
  template <class Hash>
  void add_rest(Hash& hash) const {
    hash.add(std::int64_t{gated});
  }
};

}  // namespace pw
