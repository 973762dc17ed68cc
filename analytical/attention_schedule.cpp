#include "attention_schedule.h"

#include "least_cost_sms.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kMaxTasks = std::int64_t{1} << 31;
constexpr std::int64_t kBf16Bytes = 2;

void give_causal_tiles(LeastCostSms& sms, const AttentionTile& tile,
                       const TiledRequests& requests) {
  std::int64_t visible = requests.kv;
  std::int64_t iterations = requests.iterations;
  for (std::int64_t j = requests.tiles - 1; j >= 0 && visible > 0; --j) {
    while ((iterations - 1) * tile.kv >= visible) {  // cheaper than a division
      --iterations;
    }
    sms.give(visible, iterations, 1);
    visible -= j == requests.tiles - 1 ? requests.last_rows : tile.q;
  }
}

}  // namespace

void check_attention_tasks(std::int64_t tasks) {
  if (tasks > kMaxTasks) {
    throw DataError("attention: the batch needs more than 2^31 CTAs, expected shorter requests");
  }
}

std::vector<EqualRequests> equal_requests(const AttentionConfig& attention) {
  std::vector<EqualRequests> groups;
  for (std::size_t i = 0; i < attention.q_lengths.size(); ++i) {
    const std::int64_t q = attention.q_lengths[i];
    const std::int64_t kv = attention.kv_lengths[i];
    if (groups.empty() || groups.back().q != q || groups.back().kv != kv) {
      groups.push_back({q, kv, 0});
    }
    groups.back().count += 1;
  }
  return groups;
}

std::vector<SmLoad> place_heads(const std::vector<TiledRequests>& batch, const AttentionTile& tile,
                                std::int64_t heads, bool causal, std::int64_t num_sms) {
  LeastCostSms sms(num_sms, 1);
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const TiledRequests& requests : batch) {
      if (!causal || requests.tiles == 1) {
        sms.give(requests.kv, requests.iterations, requests.tiles * requests.count);
        continue;
      }
      for (std::int64_t i = 0; i < requests.count; ++i) {
        give_causal_tiles(sms, tile, requests);
      }
    }
  }
  return sms.loads();
}

TaskCost attention_bytes(const AttentionTile& tile, std::int64_t head_dim) {
  return {checked_mul(tile.q, head_dim, kBf16Bytes), checked_mul(tile.kv, head_dim, kBf16Bytes)};
}

TaskCost ck_bytes(const AttentionTile& tile, std::int64_t head_dim) {
  const TaskCost one = attention_bytes(tile, head_dim);
  return {one.fixed, checked_mul(2, one.per_iteration)};
}

}  // namespace pw
