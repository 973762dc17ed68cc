#include "attention_schedule.h"

#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kMaxTasks = std::int64_t{1} << 31;
constexpr std::int64_t kBf16Bytes = 2;

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

void give_tiles(LeastCostSms& sms, const AttentionTile& tile, const EqualRequests& requests,
                bool causal, std::int64_t last_rows) {
  const std::int64_t tiles = ceil_div(requests.q, tile.q);
  const auto give = [&](std::int64_t visible, std::int64_t count) {
    sms.give(visible, ceil_div(visible, tile.kv), count);
  };
  if (!causal || tiles == 1) {
    give(requests.kv, checked_mul(tiles, requests.count));
    return;
  }
  for (std::int64_t i = 0; i < requests.count; ++i) {
    give(requests.kv, 1);
    std::int64_t visible = requests.kv - last_rows;
    for (std::int64_t j = tiles - 1; j > 0 && visible > 0; --j) {
      give(visible, 1);
      visible -= tile.q;
    }
  }
}

TaskCost attention_bytes(const AttentionTile& tile, std::int64_t head_dim) {
  return {checked_mul(tile.q, head_dim, kBf16Bytes), checked_mul(tile.kv, head_dim, kBf16Bytes)};
}

TaskCost ck_bytes(const AttentionTile& tile, std::int64_t head_dim) {
  const TaskCost one = attention_bytes(tile, head_dim);
  return {one.fixed, checked_mul(2, one.per_iteration)};
}

}  // namespace pw
