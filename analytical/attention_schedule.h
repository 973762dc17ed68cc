#pragma once

#include <cstdint>
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

AttentionSchedule schedule_fa2(const AttentionConfig& attention, const HardwareSpec& hardware,
                               Fa2Schedule mode);
AttentionSchedule schedule_fa3(const AttentionConfig& attention, const HardwareSpec& hardware);

// Operations of a task with n KV iterations (the published formulas).
TaskCost fa2_tensor_cost(const AttentionTile& tile, std::int64_t head_dim);
TaskCost fa2_xu_cost(const AttentionTile& tile);
TaskCost fa3_tensor_cost(const AttentionTile& tile, std::int64_t head_dim);
TaskCost fa3_xu_cost(const AttentionTile& tile);

// The KV iterations of every FA2 task in launch order, tasks without work (0) included.
std::vector<std::int64_t> fa2_tasks(const AttentionConfig& attention, const AttentionTile& tile,
                                    const HardwareSpec& hardware);
AttentionTile fa2_tile(const AttentionConfig& attention, const HardwareSpec& hardware);

}  // namespace pw
