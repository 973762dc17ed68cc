#include <algorithm>
#include <functional>
#include <queue>

#include "attention_schedule.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kElementBytes = 2;  // bf16 queries and KV
constexpr std::int64_t kMma = 16;          // rows of one tensor-core fragment

struct WarpShape {
  std::int64_t q_rows;  // query rows of the CTA
  std::int64_t warps_q;
  std::int64_t warps_kv;
  std::int64_t mma_q;  // fragments of queries per warp
};

std::int64_t group_size(const AttentionConfig& a) { return a.query_heads / a.kv_heads; }

WarpShape warp_shape(const AttentionConfig& a) {
  std::int64_t queries = 0;
  for (const std::int64_t q : a.q_lengths) {
    queries = checked_add(queries, q);
  }
  const std::int64_t average =
      checked_mul(queries, group_size(a)) / static_cast<std::int64_t>(a.q_lengths.size());
  if (average > 64 && a.head_dim < 256) {
    return {128, 4, 1, 2};
  }
  if (average > 16) {
    return {64, 4, 1, 1};
  }
  return {16, 1, 4, 1};
}

// Whether the kernel template exists for `mma_kv` fragments of KV per warp.
bool valid_mma_kv(std::int64_t mma_kv, const WarpShape& warp, std::int64_t head_fragments) {
  if (head_fragments < 4 || (head_fragments == 4 && mma_kv % 2 == 1)) {
    return false;
  }
  return warp.mma_q * (8 * head_fragments + 8 * mma_kv) < 256;  // registers
}

// Smallest KV chunk with which the batch still fits into one round of CTAs.
std::int64_t kv_chunk(const AttentionConfig& a, std::int64_t q_rows, std::int64_t num_sms) {
  const std::int64_t capacity = 2 * num_sms / a.kv_heads;
  const std::int64_t group = group_size(a);
  // Pages of 16 tokens against plain tokens: for `paged` the bound is in pages, but the lengths
  // below are tokens. A quirk of the published features, kept.
  std::int64_t low = a.layout == KvLayout::paged ? 8 : 128;
  std::int64_t high =
      std::max<std::int64_t>(1, *std::max_element(a.kv_lengths.begin(), a.kv_lengths.end()));
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    std::int64_t ctas = 0;
    for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
      ctas = checked_add(ctas, checked_mul(ceil_div(checked_mul(a.q_lengths[i], group), q_rows),
                                           ceil_div(a.kv_lengths[i], middle)));
    }
    if (ctas > capacity) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Task j runs on SM j mod S in the first round of 2S, later on SM (j mod 2S) / 2: what the
// simulation with one step per task comes to.
std::vector<SmLoad> place_published(const std::vector<std::int64_t>& tasks, std::size_t sms) {
  std::vector<SmLoad> loads(sms);
  for (std::size_t j = 0; j < tasks.size(); ++j) {
    place(loads[j < 2 * sms ? j % sms : j % (2 * sms) / 2], tasks[j]);
  }
  return loads;
}

// Two slots per SM; the slot that finishes first (ties: the lower SM) takes the next task.
std::vector<SmLoad> place_faithful(const std::vector<std::int64_t>& tasks, std::size_t sms) {
  using Slot = std::pair<std::int64_t, std::size_t>;  // finish time, SM
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> slots;
  std::vector<SmLoad> loads(sms);
  for (std::size_t j = 0; j < tasks.size(); ++j) {
    Slot slot{0, j % sms};
    if (j >= 2 * sms) {
      slot = slots.top();
      slots.pop();
    }
    place(loads[slot.second], tasks[j]);
    slots.emplace(slot.first + std::max<std::int64_t>(1, tasks[j]), slot.second);
  }
  return loads;
}

}  // namespace

AttentionTile fa2_tile(const AttentionConfig& a, const HardwareSpec& hardware) {
  if (hardware.shared_memory_kib <= 0) {
    throw DataError("hardware '" + hardware.stem +
                    "' has no sharedMemorySize, which fa2 attention needs");
  }
  const WarpShape warp = warp_shape(a);
  const std::int64_t head_fragments = a.head_dim / kMma;
  const auto shared_bytes = static_cast<std::int64_t>(hardware.shared_memory_kib * 1024);
  const std::int64_t query_bytes = checked_mul(warp.q_rows, a.head_dim, kElementBytes);
  const std::int64_t unit = checked_mul(2, a.head_dim, kMma * warp.warps_kv, kElementBytes);
  const std::int64_t ctas_per_sm = shared_bytes >= 2 * (query_bytes + unit) ? 2 : 1;
  const std::int64_t limit =
      std::min((shared_bytes / ctas_per_sm - query_bytes) / unit, 8 / warp.mma_q);
  std::int64_t mma_kv = limit;
  while (mma_kv >= 1 && !valid_mma_kv(mma_kv, warp, head_fragments)) {
    --mma_kv;
  }
  return {warp.q_rows, std::max<std::int64_t>(1, mma_kv) * warp.warps_kv * kMma};
}

std::vector<std::int64_t> fa2_tasks(const AttentionConfig& a, const AttentionTile& tile,
                                    const HardwareSpec& hardware) {
  const std::int64_t group = group_size(a);
  const std::int64_t chunk = kv_chunk(a, tile.q, hardware.num_sms);
  std::vector<std::int64_t> tasks;
  for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
    const std::int64_t q = a.q_lengths[i];
    const std::int64_t kv = a.kv_lengths[i];
    const std::int64_t q_tiles = ceil_div(checked_mul(q, group), tile.q);
    const std::int64_t chunks = ceil_div(kv, chunk);
    check_attention_tasks(checked_add(static_cast<std::int64_t>(tasks.size()),
                                      checked_mul(q_tiles, chunks, a.kv_heads)));
    for (std::int64_t j = 0; j < q_tiles; ++j) {
      const std::int64_t visible =
          a.causal ? kv - q + ceil_div((j + 1) * tile.q, group) : kv;  // KV that the tile may see
      for (std::int64_t c = 0; c < chunks; ++c) {
        const std::int64_t start = c * chunk;
        const std::int64_t length =
            std::min({chunk, kv - start, std::max<std::int64_t>(0, visible - start)});
        tasks.insert(tasks.end(), static_cast<std::size_t>(a.kv_heads), ceil_div(length, tile.kv));
      }
    }
  }
  return tasks;
}

AttentionSchedule schedule_fa2(const AttentionConfig& attention, const HardwareSpec& hardware,
                               Fa2Schedule mode) {
  const AttentionTile tile = fa2_tile(attention, hardware);
  const std::vector<std::int64_t> tasks = fa2_tasks(attention, tile, hardware);
  const auto sms = static_cast<std::size_t>(hardware.num_sms);
  return {tile, mode == Fa2Schedule::published ? place_published(tasks, sms)
                                               : place_faithful(tasks, sms)};
}

// 33/32: one extra operation per 32 for the online softmax rescaling. The product is a multiple of
// 32, because both tile sides are multiples of 16.
TaskCost fa2_tensor_cost(const AttentionTile& tile, std::int64_t head_dim) {
  return {0, checked_mul(4, tile.q, tile.kv, head_dim) / 32 * 33};
}

// Independent of the tile's KV side and of the head dimension in the published features.
TaskCost fa2_xu_cost(const AttentionTile& tile, std::int64_t) {
  return {128 * 128 + tile.q, 36 * 128};
}

}  // namespace pw
