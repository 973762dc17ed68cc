#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pw/features.h"
#include "pw/fields.h"

namespace pw {

// One pass of the fused Triton mixture-of-experts kernel, bf16, tokens routed round-robin.
struct MoeConfig {
  enum class Pass { w13, w2 };  // gate and up projection; down projection

  static constexpr std::string_view kName = "moe";
  static constexpr std::array<std::string_view, 6> kProblemColumns{"weight_type", "M", "E",
                                                                   "topk",        "H", "N"};
  static const FeatureTable& features() { return tensor_memory_features(); }
  static MoeConfig read(const Fields& fields);

  Pass pass = Pass::w13;          // weight_type
  std::int64_t tokens = 0;        // M
  std::int64_t experts = 0;       // E
  std::int64_t top_k = 0;         // topk
  std::int64_t hidden = 0;        // H
  std::int64_t intermediate = 0;  // N, per expert
};

}  // namespace pw
