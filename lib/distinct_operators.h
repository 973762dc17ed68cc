#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "operator_key.h"

namespace pw {

// Distinct operators in order of first appearance.
class DistinctOperators {
 public:
  // Where an operator stands among them; appends it when it is new.
  std::size_t index(OperatorConfig config) {
    const auto [entry, inserted] = index_.emplace(key_of(config), configs_.size());
    if (inserted) {
      keys_.push_back(entry->first);
      configs_.push_back(std::move(config));
    }
    return entry->second;
  }
  const std::vector<OperatorConfig>& configs() const { return configs_; }
  const std::vector<OperatorKey>& keys() const { return keys_; }

 private:
  std::unordered_map<OperatorKey, std::size_t, OperatorKeyHash> index_;
  std::vector<OperatorConfig> configs_;
  std::vector<OperatorKey> keys_;
};

}  // namespace pw
