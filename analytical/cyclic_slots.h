#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "pipes.h"

namespace pw {

// A scheduler that gives tasks to slots in turn, around and around. A run of equal tasks takes
// O(1), whatever its length.
class CyclicSlots {
 public:
  explicit CyclicSlots(std::int64_t slots);

  // `times` runs of `count` tasks, each run from slot `first` on; the slot behind them. Throws
  // std::overflow_error for more than 2^63 iterations in all.
  std::int64_t add(std::int64_t first, std::int64_t iterations, std::int64_t count,
                   std::int64_t times);

  std::vector<SmLoad> loads() const;  // one per slot

 private:
  std::vector<SmLoad> steps_;  // what a slot has more than the one before
  std::int64_t total_iterations_ = 0;
};

// Calls visit(slot, times) for every slot among first, first + stride, ... (`count` of them, modulo
// `slots`), with the number of times that it occurs.
template <class Visit>
void for_each_start(std::int64_t first, std::int64_t stride, std::int64_t count, std::int64_t slots,
                    const Visit& visit) {
  const std::int64_t step = stride % slots;
  const std::int64_t period = slots / std::gcd(step, slots);
  std::int64_t slot = first % slots;
  for (std::int64_t i = 0; i < std::min(period, count); ++i) {
    visit(slot, (count - i - 1) / period + 1);
    slot = (slot + step) % slots;
  }
}

}  // namespace pw
