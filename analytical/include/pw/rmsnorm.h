#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pw/family.h"
#include "pw/features.h"
#include "pw/fields.h"

namespace pw {

// RMSNorm of `seq` rows of width `dim`, bf16, one CTA per row.
struct RmsNormConfig {
  static constexpr std::string_view kName = "rmsnorm";
  static const FeatureTable& features() { return fma_xu_memory_features(); }
  static RmsNormConfig read(const Fields& fields);

  std::int64_t seq = 0;
  std::int64_t dim = 0;

  static constexpr std::array<Number<RmsNormConfig>, 2> kNumbers{
      {{"seq", &RmsNormConfig::seq, 0}, {"dim", &RmsNormConfig::dim, 1}}};
  std::int64_t tokens() const { return seq; }
};

}  // namespace pw
