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
  for (const std::int64_t q : a.q_lengths) {
    check_attention_tasks(checked_mul(ceil_div(q, tile.q), a.query_heads));
  }
  std::vector<SmLoad> loads(static_cast<std::size_t>(hardware.num_sms));
  LeastCostSms sms(loads.size());
  for (std::int64_t head = 0; head < a.query_heads; ++head) {
    for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
      const std::int64_t tiles = ceil_div(a.q_lengths[i], tile.q);
      for (std::int64_t later = 0; later < tiles; ++later) {  // tiles behind this one
        const std::int64_t visible =
            std::max<std::int64_t>(0, a.kv_lengths[i] - (a.causal ? later * tile.q : 0));
        place(loads[sms.take(checked_mul(tile.q, visible))], ceil_div(visible, tile.kv));
      }
    }
  }
  return {tile, loads};
}

}  // namespace pw
