#include <algorithm>

#include "attention_schedule.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kMaxTilesPerHeadLoop =
    8192;  // beyond it the published features count one head

AttentionTile fa3_tile(const AttentionConfig& a) {
  const bool paged = a.layout == KvLayout::paged;
  switch (a.head_dim) {
    case 64:
      return paged ? AttentionTile{192, 96} : AttentionTile{192, 128};
    case 128:
      if (paged) {
        return {128, 96};
      }
      return a.causal ? AttentionTile{128, 128} : AttentionTile{128, 192};
    default:
      return paged ? AttentionTile{128, 32} : AttentionTile{128, 64};
  }
}

// How many heads the published scheduler loops over.
std::int64_t counted_heads(const AttentionConfig& a, std::int64_t q_rows) {
  std::int64_t queries = 0;
  for (const std::int64_t q : a.q_lengths) {
    queries = checked_add(queries, q);
  }
  const std::int64_t tiles =
      ceil_div(queries, q_rows) + static_cast<std::int64_t>(a.q_lengths.size()) - 1;
  return tiles > kMaxTilesPerHeadLoop ? 1 : a.query_heads;
}

}  // namespace

// Tiles go, longest request and last tile first, to the SM with the smallest cost so far (ties:
// the lower SM). Costs persist across heads.
AttentionSchedule schedule_fa3(const AttentionConfig& a, const HardwareSpec& hardware) {
  const AttentionTile tile = fa3_tile(a);
  const std::int64_t heads = counted_heads(a, tile.q);
  std::vector<TiledRequests> batch;
  for (const EqualRequests& r : equal_requests(a)) {
    const std::int64_t tiles = ceil_div(r.q, tile.q);
    check_attention_tasks(checked_mul(tiles, heads));
    batch.push_back({r.count, r.kv, ceil_div(r.kv, tile.kv), tiles, r.q - (tiles - 1) * tile.q});
  }
  // Equal ones keep their order.
  std::stable_sort(batch.begin(), batch.end(),
                   [](const TiledRequests& x, const TiledRequests& y) { return x.kv > y.kv; });
  return {tile, place_heads(batch, tile, heads, a.causal, hardware.num_sms)};
}

TaskCost fa3_tensor_cost(const AttentionTile& tile, std::int64_t head_dim) {
  return {0, checked_mul(4, tile.q, tile.kv, head_dim)};
}

// q*k + (n-1)*q*(4+k) + 8*q
TaskCost fa3_xu_cost(const AttentionTile& tile, std::int64_t) {
  return {4 * tile.q, tile.q * (4 + tile.kv)};
}

}  // namespace pw
