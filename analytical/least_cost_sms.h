#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipes.h"

namespace pw {

// A scheduler that gives every task to the SM with the least cost so far. It takes O(log slots) per
// task, and none for whole rounds of equal tasks once the slots have come close to each other.
class LeastCostSms {
 public:
  // Each SM runs `slots_per_sm` tasks at a time. Both at least 1.
  LeastCostSms(std::int64_t sms, std::int64_t slots_per_sm);

  // `count` tasks, one after another, of `cost` >= 1 each, which is at least their `iterations`.
  // The first task of each slot goes to SM 0, 1, 2, ... in turn, every later one to the slot with
  // the least cost, the lower SM of equals. Throws std::overflow_error for costs beyond int64.
  void give(std::int64_t cost, std::int64_t iterations, std::int64_t count);

  std::vector<SmLoad> loads();  // one per SM, of all tasks given

 private:
  using Key = std::uint64_t;  // cost << slot_bits_ | slot: orders by cost, then by SM

  void place_pending();
  void place_first_round();
  void start_tournament();

  std::int64_t sms_;
  std::int64_t slots_per_sm_;
  int slot_bits_ = 0;
  std::vector<SmLoad> slot_loads_;
  SmLoad whole_rounds_;          // on every slot beside its own load; keys leave it out
  std::int64_t total_keys_ = 0;  // sum of all costs, shifted: no key is larger
  // Tasks given, but not yet placed, because equal ones may follow.
  std::int64_t cost_ = 0;
  std::int64_t iterations_ = 0;
  std::int64_t count_ = 0;

  std::vector<Key> first_round_;  // of the tasks so far, in launch order
  // Then a tournament of all slots, the least key wins: the root is node 1, node i plays against
  // i ^ 1, i ^ 2 and i ^ 3 for node i / 4, and slot s is leaf `first_leaf_ + s`.
  std::vector<Key> nodes_;
  std::size_t first_leaf_ = 1;
  Key largest_ = 0;
};

}  // namespace pw
