#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipes.h"

namespace pw {

// A scheduler that gives every task to the SM with the least cost so far. It takes O(log slots) per
// task, and no time for whole rounds of equal tasks once the slots have come close to each other.
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
  void place_on(std::size_t slot);
  void place_on_least(Key cost);
  void start_tournament();

  std::int64_t sms_;
  std::int64_t slots_per_sm_;
  int slot_bits_ = 0;
  std::vector<SmLoad> slot_loads_;
  // Tasks given, but not yet placed, because equal ones may follow.
  std::int64_t cost_ = 0;
  std::int64_t iterations_ = 0;
  std::int64_t count_ = 0;
  std::int64_t total_keys_ = 0;  // sum of all costs, shifted: no key is larger
  std::size_t first_round_ = 0;  // tasks placed in the first round
  // A tournament of slots: node i has children 2i and 2i + 1, slot s is leaf `slots + s`, and every
  // inner node holds the key that lost there. In the first round: the keys by slot.
  std::vector<Key> losers_;
  Key least_ = 0;
  Key largest_ = 0;
  SmLoad whole_rounds_;  // on every slot; keys leave it out
};

}  // namespace pw
