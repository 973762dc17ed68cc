#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "pipes.h"
#include "pw/attention.h"
#include "pw/hardware_spec.h"

namespace pw {

// Tokens of queries and of KV that one CTA works on at a time.
struct AttentionTile {
  std::int64_t q = 0;
  std::int64_t kv = 0;
};

// A kernel's tile and what its scheduler puts on every SM.
struct AttentionSchedule {
  AttentionTile tile;
  std::vector<SmLoad> loads;  // one per SM
};

// CTAs of one batch: beyond it a schedule takes minutes. Throws DataError.
void check_attention_tasks(std::int64_t tasks);

// Adds a task of `iterations` to an SM; one without work leaves no trace.
void place(SmLoad& load, std::int64_t iterations);

// Gives each task to the SM with the least cost so far, the lower one of equals.
class LeastCostSms {
 public:
  explicit LeastCostSms(std::size_t sms);
  std::size_t take(std::int64_t cost);  // the SM that gets a task of this cost

 private:
  using Slot = std::pair<std::int64_t, std::size_t>;  // cost, SM
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> slots_;
};

AttentionSchedule schedule_fa2(const AttentionConfig& attention, const HardwareSpec& hardware,
                               Fa2Schedule mode);
AttentionSchedule schedule_fa3(const AttentionConfig& attention, const HardwareSpec& hardware);
AttentionSchedule schedule_cutlass(const AttentionConfig& attention, const HardwareSpec& hardware);
AttentionSchedule schedule_ck(const AttentionConfig& attention, const HardwareSpec& hardware);

// Operations of a task with n KV iterations (the published formulas). cutlass counts as fa3.
using AttentionCost = TaskCost(const AttentionTile& tile, std::int64_t head_dim);
AttentionCost fa2_tensor_cost, fa2_xu_cost, fa3_tensor_cost, fa3_xu_cost, ck_xu_cost;

// Bytes that a task loads: its queries once and per iteration one of K and V (not both: the
// published count, kept because models were fitted on it). ck loads both.
AttentionCost attention_bytes, ck_bytes;

// The KV iterations of every FA2 task in launch order, tasks without work (0) included.
std::vector<std::int64_t> fa2_tasks(const AttentionConfig& attention, const AttentionTile& tile,
                                    const HardwareSpec& hardware);
AttentionTile fa2_tile(const AttentionConfig& attention, const HardwareSpec& hardware);

}  // namespace pw
