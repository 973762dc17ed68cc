#include <algorithm>
#include <numeric>

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

// Requests by KV length, longest first; equal ones keep their order.
std::vector<std::size_t> longest_first(const std::vector<std::int64_t>& kv_lengths) {
  std::vector<std::size_t> order(kv_lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return kv_lengths[x] > kv_lengths[y]; });
  return order;
}

}  // namespace

// Tiles go, longest request and last tile first, to the SM with the smallest cost so far (ties:
// the lower SM). Costs persist across heads; tiles without work still pass through the queue.
AttentionSchedule schedule_fa3(const AttentionConfig& a, const HardwareSpec& hardware) {
  const AttentionTile tile = fa3_tile(a);
  const std::int64_t heads = counted_heads(a, tile.q);
  const std::vector<std::size_t> order = longest_first(a.kv_lengths);
  for (const std::int64_t q : a.q_lengths) {
    check_attention_tasks(checked_mul(ceil_div(q, tile.q), heads));
  }
  std::vector<SmLoad> loads(static_cast<std::size_t>(hardware.num_sms));
  LeastCostSms sms(loads.size());
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::size_t i : order) {
      const std::int64_t q = a.q_lengths[i];
      const std::int64_t kv = a.kv_lengths[i];
      for (std::int64_t j = ceil_div(q, tile.q) - 1; j >= 0; --j) {
        // KV tokens that the tile's last query sees; negative when q > kv.
        const std::int64_t end = a.causal ? std::min((j + 1) * tile.q + kv - q, kv) : kv;
        place(loads[sms.take(checked_mul(tile.q, std::max<std::int64_t>(0, end)))],
              ceil_div(end, tile.kv));
      }
    }
  }
  return {tile, loads};
}

TaskCost fa3_tensor_cost(const AttentionTile& tile, std::int64_t head_dim) {
  return {0, checked_mul(4, tile.q, tile.kv, head_dim)};
}

// q*k + (n-1)*q*(4+k) + 8*q
TaskCost fa3_xu_cost(const AttentionTile& tile, std::int64_t) {
  return {4 * tile.q, tile.q * (4 + tile.kv)};
}

}  // namespace pw
