#pragma once

#include <cstdint>

#include "pw/operators.h"

namespace pw {

// Equal for equal operator problems. 128 bits of hash: among a thousand million different problems
// two share a key with a probability below 1e-20.
struct OperatorKey {
  std::uint64_t low = 0, high = 0;

  bool operator==(const OperatorKey& other) const { return low == other.low && high == other.high; }
};
OperatorKey key_of(const OperatorConfig& config);

struct OperatorKeyHash {
  std::size_t operator()(const OperatorKey& key) const { return key.low; }
};

}  // namespace pw
