#include <algorithm>

#include "attention_schedule.h"
#include "pw/int_math.h"

namespace pw {
namespace {

AttentionTile cutlass_tile(const AttentionConfig& a) {
  switch (a.head_dim) {
    case 64:
      return {128, 128};
    case 128:
      return {128, a.causal ? 64 : 96};
    case 192:
      return {128, 64};
    default:
      return {128, 32};
  }
}

}  // namespace

// CUTLASS's kernel for SM100. Requests in input order and the last tile first, each to the SM with
// the least cost so far; costs persist across heads.
AttentionSchedule schedule_cutlass(const AttentionConfig& a, const HardwareSpec& hardware) {
  const AttentionTile tile = cutlass_tile(a);
  std::vector<TiledRequests> batch;
  for (const EqualRequests& r : equal_requests(a)) {
    const std::int64_t tiles = ceil_div(r.q, tile.q);
    check_attention_tasks(checked_mul(tiles, a.query_heads));
    batch.push_back({r.count, r.kv, ceil_div(r.kv, tile.kv), tiles, tile.q});
  }
  return {tile, place_heads(batch, tile, a.query_heads, a.causal, hardware.num_sms)};
}

}  // namespace pw
