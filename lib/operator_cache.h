#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "operator_key.h"

namespace pw {

// An operator's duration on one GPU.
struct OperatorTimeOnGpu {
  double duration_us = 0;
  double extrapolated = 0;  // RangeViolation::distance, 0 inside its model's training range
};
// On all GPUs of a timer, in its order.
using OperatorTimes = std::vector<OperatorTimeOnGpu>;

// Times of the operators that were asked for most recently, for several threads. Holds at most
// about `bytes`: half of them are dropped when it is full.
class OperatorCache {
 public:
  OperatorCache(std::size_t gpus, std::size_t bytes);

  // Null when the operator is not there.
  std::shared_ptr<const OperatorTimes> find(const OperatorKey& key);
  void insert(const OperatorKey& key, std::shared_ptr<const OperatorTimes> times);

 private:
  using Map =
      std::unordered_map<OperatorKey, std::shared_ptr<const OperatorTimes>, OperatorKeyHash>;
  // Some of the keys, so that threads rarely wait for each other. What is asked for moves from
  // `old` to `recent`; a full `recent` becomes `old`.
  struct Part {
    std::mutex mutex;
    Map recent, old;
  };
  Part& part_of(const OperatorKey& key) { return parts_[key.high % parts_.size()]; }
  void insert_recent(Part& part, const OperatorKey& key,
                     std::shared_ptr<const OperatorTimes> times);

  std::size_t most_recent_;  // in each part
  std::array<Part, 64> parts_;
};

}  // namespace pw
