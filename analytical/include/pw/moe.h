#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pw/family.h"
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
  std::int64_t rows = 0;          // M, tokens
  std::int64_t experts = 0;       // E
  std::int64_t top_k = 0;         // topk
  std::int64_t hidden = 0;        // H
  std::int64_t intermediate = 0;  // N, per expert

  static constexpr std::array<Number<MoeConfig>, 5> kNumbers{{{"M", &MoeConfig::rows, 0},
                                                              {"E", &MoeConfig::experts, 1},
                                                              {"topk", &MoeConfig::top_k, 1},
                                                              {"H", &MoeConfig::hidden, 1},
                                                              {"N", &MoeConfig::intermediate, 1}}};
  std::int64_t tokens() const { return rows; }
  std::string described() const { return " " + pass_name() + described_numbers(*this); }
  std::vector<std::string> cells() const;
  std::string pass_name() const { return pass == Pass::w13 ? "w13" : "w2"; }
  template <class Hash>
  void add_rest(Hash& hash) const {
    hash.add(static_cast<std::int64_t>(pass));
  }
};

}  // namespace pw
