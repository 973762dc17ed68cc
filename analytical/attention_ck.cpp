#include <algorithm>
#include <functional>

#include "attention_schedule.h"
#include "cyclic_slots.h"
#include "pw/int_math.h"

namespace pw {
namespace {

std::int64_t kv_tile(std::int64_t head_dim) {
  if (head_dim == 128) return 128;
  return head_dim <= 192 ? 64 : 32;
}

void require_equal(const std::vector<std::int64_t>& lengths, const char* name) {
  if (std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) != lengths.end()) {
    throw DataError(std::string("attention: ") + name +
                    " differ between the requests, expected equal ones for kernel ck");
  }
}

}  // namespace

// AMD's Composable Kernel: a grid of (request, head, tile) in turn over the SMs. Its causal mask
// starts at the top left: a query sees no more KV for a context that was there before.
AttentionSchedule schedule_ck(const AttentionConfig& a, const HardwareSpec& hardware) {
  require_equal(a.q_lengths, "q_lengths");
  require_equal(a.kv_lengths, "kv_lengths");
  const AttentionTile tile{128, kv_tile(a.head_dim)};
  const std::int64_t q = a.q_lengths.front();
  const std::int64_t grid =
      checked_mul(static_cast<std::int64_t>(a.q_lengths.size()), a.query_heads);
  const std::int64_t tiles = ceil_div(q, tile.q);
  check_attention_tasks(checked_mul(tiles, grid));
  const std::int64_t most = ceil_div(a.kv_lengths.front(), tile.kv);
  CyclicSlots sms(hardware.num_sms);
  for_each_start(0, tiles, grid, hardware.num_sms, [&](std::int64_t sm, std::int64_t heads) {
    if (!a.causal) {
      sms.add(sm, most, tiles, heads);
      return;
    }
    for (std::int64_t j = 0; j < tiles; ++j) {
      const std::int64_t visible = ceil_div(std::min((j + 1) * tile.q, q), tile.kv);
      sms.add((sm + j) % hardware.num_sms, std::min(most, visible), 1, heads);
    }
  });
  return {tile, sms.loads()};
}

// (q k + 2 q) n + q hd
TaskCost ck_xu_cost(const AttentionTile& tile, std::int64_t head_dim) {
  return {checked_mul(tile.q, head_dim), tile.q * (tile.kv + 2)};
}

}  // namespace pw
