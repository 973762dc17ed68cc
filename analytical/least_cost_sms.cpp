#include "least_cost_sms.h"

#include <algorithm>
#include <limits>

#include "pw/int_math.h"

namespace pw {

LeastCostSms::LeastCostSms(std::int64_t sms, std::int64_t slots_per_sm)
    : sms_(sms), slots_per_sm_(slots_per_sm) {
  const auto slots = static_cast<std::size_t>(checked_mul(sms, slots_per_sm));
  slot_loads_.resize(slots);
  first_round_.reserve(slots);
  while (((slots - 1) >> slot_bits_) != 0) {
    ++slot_bits_;
  }
}

void LeastCostSms::give(std::int64_t cost, std::int64_t iterations, std::int64_t count) {
  total_keys_ = checked_add(total_keys_, checked_mul(cost, count, std::int64_t{1} << slot_bits_));
  if (cost != cost_ || iterations != iterations_) {
    place_pending();
    cost_ = cost;
    iterations_ = iterations;
  }
  count_ += count;
}

void LeastCostSms::place_pending() {
  const std::size_t slots = slot_loads_.size();
  if (first_round_.size() < slots) {
    place_first_round();
  }
  const Key slot_mask = (Key{1} << slot_bits_) - 1;
  const Key cost = static_cast<Key>(cost_) << slot_bits_;
  const SmLoad task{iterations_ > 0 ? 1 : 0, iterations_};
  for (; count_ > 0; --count_) {
    Key key = nodes_[1];
    if (count_ >= static_cast<std::int64_t>(slots) && largest_ < key + cost) {
      // Every slot takes one task before any takes its second, in the same order each round.
      const std::int64_t rounds = count_ / static_cast<std::int64_t>(slots);
      whole_rounds_.tasks += rounds * task.tasks;
      whole_rounds_.iterations += rounds * task.iterations;
      count_ %= static_cast<std::int64_t>(slots);
      if (count_ == 0) {
        return;
      }
    }
    const auto slot = static_cast<std::size_t>(key & slot_mask);
    slot_loads_[slot].tasks += task.tasks;
    slot_loads_[slot].iterations += task.iterations;
    key += cost;
    largest_ = std::max(largest_, key);
    for (std::size_t node = first_leaf_ + slot; node > 1; node /= 4) {
      nodes_[node] = key;
      // What the others come to does not wait for the key.
      key = std::min(key, Key{std::min({nodes_[node ^ 1], nodes_[node ^ 2], nodes_[node ^ 3]})});
    }
    nodes_[1] = key;
  }
}

void LeastCostSms::place_first_round() {
  const std::size_t slots = slot_loads_.size();
  for (; count_ > 0 && first_round_.size() < slots; --count_) {
    const auto task = static_cast<std::int64_t>(first_round_.size());
    const auto slot = static_cast<std::size_t>(task % sms_ * slots_per_sm_ + task / sms_);
    first_round_.push_back(static_cast<Key>(cost_) << slot_bits_ | slot);
    if (iterations_ > 0) {
      slot_loads_[slot] = {1, iterations_};
    }
  }
  if (first_round_.size() == slots) {
    start_tournament();
  }
}

void LeastCostSms::start_tournament() {
  while (first_leaf_ < slot_loads_.size()) {
    first_leaf_ *= 4;
  }
  nodes_.assign(2 * first_leaf_, std::numeric_limits<Key>::max());
  for (const Key key : first_round_) {
    nodes_[first_leaf_ + static_cast<std::size_t>(key & ((Key{1} << slot_bits_) - 1))] = key;
    largest_ = std::max(largest_, key);
  }
  for (std::size_t node = first_leaf_ / 2 - (first_leaf_ > 1 ? 1 : 0); node > 0; --node) {
    nodes_[node] = *std::min_element(&nodes_[4 * node], &nodes_[4 * node] + 4);
  }
}

std::vector<SmLoad> LeastCostSms::loads() {
  place_pending();
  std::vector<SmLoad> loads(static_cast<std::size_t>(sms_));
  for (std::size_t slot = 0; slot < slot_loads_.size(); ++slot) {
    SmLoad& load = loads[slot / static_cast<std::size_t>(slots_per_sm_)];
    load.tasks += slot_loads_[slot].tasks + whole_rounds_.tasks;
    load.iterations += slot_loads_[slot].iterations + whole_rounds_.iterations;
  }
  return loads;
}

}  // namespace pw
