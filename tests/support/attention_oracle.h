#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attention_schedule.h"
#include "pw/int_math.h"

// Attention schedules task by task, as their rules are told: slow, and easy to check by eye.
namespace pw::oracle {

inline void record(std::vector<SmLoad>& loads, std::size_t sm, std::int64_t iterations) {
  if (iterations > 0) {
    loads[sm].tasks += 1;
    loads[sm].iterations += iterations;
  }
}

// The smallest KV chunk that needs no more CTAs than fit at a time.
inline std::int64_t fa2_chunk(const AttentionConfig& a, std::int64_t q_rows, std::int64_t sms) {
  const std::int64_t group = a.query_heads / a.kv_heads;
  std::int64_t low = a.layout == KvLayout::paged ? 8 : 128;
  std::int64_t high = *std::max_element(a.kv_lengths.begin(), a.kv_lengths.end());
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    std::int64_t ctas = 0;
    for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
      ctas += ceil_div(a.q_lengths[i] * group, q_rows) * ceil_div(a.kv_lengths[i], middle);
    }
    if (ctas > 2 * sms / a.kv_heads) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The KV iterations of every FA2 task in launch order, tasks without work (0) included.
inline std::vector<std::int64_t> fa2_tasks(const AttentionConfig& a, const AttentionTile& tile,
                                           std::int64_t sms) {
  const std::int64_t group = a.query_heads / a.kv_heads;
  const std::int64_t chunk = fa2_chunk(a, tile.q, sms);
  std::vector<std::int64_t> tasks;
  for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
    const std::int64_t q = a.q_lengths[i];
    const std::int64_t kv = a.kv_lengths[i];
    for (std::int64_t j = 0; j < ceil_div(q * group, tile.q); ++j) {
      for (std::int64_t start = 0; start < kv; start += chunk) {
        std::int64_t length = std::min(chunk, kv - start);
        if (a.causal) {
          const std::int64_t visible = kv - q + ceil_div((j + 1) * tile.q, group);
          length = std::min(length, std::max<std::int64_t>(0, visible - start));
        }
        tasks.insert(tasks.end(), static_cast<std::size_t>(a.kv_heads), ceil_div(length, tile.kv));
      }
    }
  }
  return tasks;
}

// Two slots per SM. Time step by time step: every slot that is free takes the next task, lower SMs
// first. A task lasts as long as it has iterations, but one step under the published schedule.
inline std::vector<SmLoad> simulate_fa2(const std::vector<std::int64_t>& tasks, std::size_t sms,
                                        Fa2Schedule schedule) {
  struct Slot {
    std::int64_t finish;
    std::size_t sm;
  };
  const auto duration = [&](std::int64_t n) {
    return schedule == Fa2Schedule::faithful ? std::max<std::int64_t>(1, n) : 1;
  };
  std::vector<SmLoad> loads(sms);
  std::vector<Slot> slots;
  std::size_t next = 0;
  for (; next < std::min(2 * sms, tasks.size()); ++next) {
    record(loads, next % sms, tasks[next]);
    slots.push_back({duration(tasks[next]), next % sms});
  }
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot& a, const Slot& b) { return a.sm < b.sm; });
  for (std::int64_t now = 1; next < tasks.size(); ++now) {
    for (Slot& slot : slots) {
      if (slot.finish == now && next < tasks.size()) {
        record(loads, slot.sm, tasks[next]);
        slot.finish = now + duration(tasks[next++]);
      }
    }
  }
  return loads;
}

// Gives each task to the SM with the smallest cost by a plain scan.
class ScannedSms {
 public:
  explicit ScannedSms(std::size_t sms) : costs_(sms), loads_(sms) {}

  void give(std::int64_t cost, std::int64_t iterations) {
    const auto least = std::min_element(costs_.begin(), costs_.end());
    record(loads_, static_cast<std::size_t>(least - costs_.begin()), iterations);
    *least += cost;
  }
  const std::vector<SmLoad>& loads() const { return loads_; }

 private:
  std::vector<std::int64_t> costs_;
  std::vector<SmLoad> loads_;
};

inline std::vector<SmLoad> simulate_fa3(const AttentionConfig& a, const AttentionTile& tile,
                                        std::size_t sms) {
  std::vector<std::size_t> order(a.q_lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return a.kv_lengths[x] > a.kv_lengths[y]; });
  const std::int64_t queries =
      std::accumulate(a.q_lengths.begin(), a.q_lengths.end(), std::int64_t{0});
  const std::int64_t tiles =
      ceil_div(queries, tile.q) + static_cast<std::int64_t>(order.size()) - 1;
  ScannedSms scanned(sms);
  for (std::int64_t head = 0; head < (tiles > 8192 ? 1 : a.query_heads); ++head) {
    for (const std::size_t i : order) {
      const std::int64_t kv = a.kv_lengths[i];
      for (std::int64_t j = ceil_div(a.q_lengths[i], tile.q) - 1; j >= 0; --j) {
        const std::int64_t end = (j + 1) * tile.q + kv - a.q_lengths[i];
        std::int64_t n = ceil_div(kv, tile.kv);
        if (a.causal) {
          n = std::min(n, ceil_div(end, tile.kv));
        }
        scanned.give(tile.q * (a.causal ? std::max<std::int64_t>(0, std::min(end, kv)) : kv), n);
      }
    }
  }
  return scanned.loads();
}

inline std::vector<SmLoad> simulate_cutlass(const AttentionConfig& a, const AttentionTile& tile,
                                            std::size_t sms) {
  ScannedSms scanned(sms);
  for (std::int64_t head = 0; head < a.query_heads; ++head) {
    for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
      const std::int64_t tiles = ceil_div(a.q_lengths[i], tile.q);
      for (std::int64_t j = tiles - 1; j >= 0; --j) {
        std::int64_t length = a.kv_lengths[i];
        if (a.causal) {
          length = std::max<std::int64_t>(0, length - (tiles - 1 - j) * tile.q);
        }
        scanned.give(tile.q * length, ceil_div(length, tile.kv));
      }
    }
  }
  return scanned.loads();
}

inline std::vector<SmLoad> simulate_ck(const AttentionConfig& a, const AttentionTile& tile,
                                       std::size_t sms) {
  std::vector<SmLoad> loads(sms);
  std::size_t task = 0;
  for (const std::int64_t q : a.q_lengths) {
    for (std::int64_t head = 0; head < a.query_heads; ++head) {
      for (std::int64_t j = 0; j < ceil_div(q, tile.q); ++j) {
        std::int64_t n = ceil_div(a.kv_lengths.front(), tile.kv);
        if (a.causal) {
          n = std::min(n, ceil_div(std::min((j + 1) * tile.q, q), tile.kv));
        }
        record(loads, task++ % sms, n);
      }
    }
  }
  return loads;
}

}  // namespace pw::oracle
