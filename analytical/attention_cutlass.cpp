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
  const std::vector<EqualRequests> batch = equal_requests(a);
  for (const EqualRequests& requests : batch) {
    check_attention_tasks(checked_mul(ceil_div(requests.q, tile.q), a.query_heads));
  }
  LeastCostSms sms(hardware.num_sms, 1);
  for (std::int64_t head = 0; head < a.query_heads; ++head) {
    for (const EqualRequests& requests : batch) {
      give_tiles(sms, tile, requests, a.causal, tile.q);
    }
  }
  return {tile, sms.loads()};
}

}  // namespace pw
