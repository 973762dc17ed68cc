#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pw/fact.h"
#include "pw/step.h"

namespace pw {

inline std::vector<std::string> sentences(const Facts& facts) {
  std::vector<std::string> all;
  for (const Fact& fact : facts) all.push_back(fact.sentence);
  return all;
}

// The operator of this name.
inline const Op& op_of(const Step& step, std::string_view name) {
  const Op* found = nullptr;
  for_each_op(step, [&](const Op& op) {
    if (op.name == name) found = &op;
  });
  if (found == nullptr) throw std::out_of_range("no operator " + std::string(name));
  return *found;
}

template <class Config>
const Config& problem_of(const Step& step, std::string_view name) {
  return std::get<Config>(op_of(step, name).problem);
}

inline const AttentionConfig& attention_of(const Step& step) {
  return std::get<AttentionConfig>(step.attention.at(0).problem);
}

}  // namespace pw
