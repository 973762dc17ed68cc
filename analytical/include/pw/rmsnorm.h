#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pw/features.h"
#include "pw/fields.h"

namespace pw {

// RMSNorm of `seq` rows of width `dim`, bf16, one CTA per row.
struct RmsNormConfig {
  static constexpr std::string_view kName = "rmsnorm";
  static constexpr std::array<std::string_view, 2> kProblemColumns{"seq", "dim"};
  static const FeatureTable& features() { return fma_xu_memory_features(); }
  static RmsNormConfig read(const Fields& fields);

  std::int64_t seq = 0;
  std::int64_t dim = 0;
};

}  // namespace pw
