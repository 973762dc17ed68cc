#include "least_cost_sms.h"

#include <algorithm>

#include "pw/int_math.h"

namespace pw {

LeastCostSms::LeastCostSms(std::int64_t sms, std::int64_t slots_per_sm)
    : sms_(sms), slots_per_sm_(slots_per_sm) {
  const auto slots = static_cast<std::size_t>(checked_mul(sms, slots_per_sm));
  slot_loads_.resize(slots);
  losers_.resize(slots);
  while ((slots - 1) >> slot_bits_ != 0) {
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
  const Key cost = static_cast<Key>(cost_) << slot_bits_;
  for (; count_ > 0 && first_round_ < slot_loads_.size(); --count_) {
    const auto task = static_cast<std::int64_t>(first_round_++);
    const auto slot = static_cast<std::size_t>(task % sms_ * slots_per_sm_ + task / sms_);
    losers_[slot] = cost | slot;
    place_on(slot);
    if (first_round_ == slot_loads_.size()) {
      start_tournament();
    }
  }
  const auto slots = static_cast<std::int64_t>(slot_loads_.size());
  for (; count_ > 0; --count_) {
    if (count_ >= slots && largest_ < least_ + cost) {
      // Every slot takes one task before any takes its second, in the same order each round.
      const std::int64_t rounds = count_ / slots;
      if (iterations_ > 0) {
        whole_rounds_.tasks += rounds;
        whole_rounds_.iterations += rounds * iterations_;
      }
      count_ %= slots;
      if (count_ == 0) {
        return;
      }
    }
    place_on_least(cost);
  }
}

void LeastCostSms::place_on(std::size_t slot) {
  if (iterations_ > 0) {
    slot_loads_[slot].tasks += 1;
    slot_loads_[slot].iterations += iterations_;
  }
}

void LeastCostSms::place_on_least(Key cost) {
  const auto slot = static_cast<std::size_t>(least_ & ((Key{1} << slot_bits_) - 1));
  place_on(slot);
  Key key = least_ + cost;
  largest_ = std::max(largest_, key);
  for (std::size_t node = (slot + slot_loads_.size()) / 2; node > 0; node /= 2) {
    // Copies, so that the compiler needs no branch: it would be mispredicted half of the times.
    const Key other = losers_[node];
    const Key loser = other < key ? key : other;
    key = other < key ? other : key;
    losers_[node] = loser;
  }
  least_ = key;
}

void LeastCostSms::start_tournament() {
  const std::size_t slots = losers_.size();
  largest_ = *std::max_element(losers_.begin(), losers_.end());
  std::vector<Key> winners(slots);
  winners.insert(winners.end(), losers_.begin(), losers_.end());
  for (std::size_t node = slots - 1; node > 0; --node) {
    const auto [winner, loser] = std::minmax(winners[2 * node], winners[2 * node + 1]);
    losers_[node] = loser;
    winners[node] = winner;
  }
  least_ = winners[1];
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
