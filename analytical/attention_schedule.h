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

// Throws DataError for a batch of more CTAs than a grid has.
void check_attention_tasks(std::int64_t tasks);

// Requests of equal lengths that follow one another in a batch.
struct EqualRequests {
  std::int64_t q = 0;
  std::int64_t kv = 0;
  std::int64_t count = 0;
};
std::vector<EqualRequests> equal_requests(const AttentionConfig& attention);

// Equal requests of a kernel that gives each query tile to the SM with the least cost so far.
struct TiledRequests {
  std::int64_t count = 0;
  std::int64_t kv = 0;
  std::int64_t iterations = 0;  // of a tile that sees all KV
  std::int64_t tiles = 0;
  std::int64_t last_rows = 0;  // under the causal mask the tile before the last sees as much less
};

// Places the tiles head by head, request by request and the last tile first. A tile costs the KV
// tokens that it sees: the last one all, under the causal mask every other one `tile.q` fewer than
// the next. Tiles that see none take no time and leave no trace.
std::vector<SmLoad> place_heads(const std::vector<TiledRequests>& batch, const AttentionTile& tile,
                                std::int64_t heads, bool causal, std::int64_t num_sms);

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

AttentionTile fa2_tile(const AttentionConfig& attention, const HardwareSpec& hardware);

}  // namespace pw
