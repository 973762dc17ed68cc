#include <algorithm>

#include "attention_schedule.h"
#include "cyclic_slots.h"
#include "least_cost_sms.h"
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

// Equal requests, each cut into tiles of grouped queries and chunks of KV.
struct CutRequests {
  std::int64_t q = 0;
  std::int64_t kv = 0;
  std::int64_t count = 0;
  std::int64_t q_tiles = 0;
  std::int64_t chunks = 1;
};

// Smallest KV chunk with which the batch still fits into one round of `capacity` CTAs per KV head,
// but at least `shortest`; whole requests when none does.
std::int64_t kv_chunk(const std::vector<CutRequests>& batch, std::int64_t shortest,
                      std::int64_t capacity) {
  std::int64_t longest = 1;
  std::int64_t tiles = 0;
  for (const CutRequests& requests : batch) {
    longest = std::max(longest, requests.kv);
    tiles = checked_add(tiles, checked_mul(requests.q_tiles, requests.count));
  }
  if (tiles > capacity || shortest >= longest) {
    return std::max(shortest, longest);
  }
  std::int64_t tile_reads = 0;  // KV of all tiles
  for (const CutRequests& requests : batch) {
    tile_reads =
        checked_add(tile_reads, checked_mul(requests.q_tiles, requests.count, requests.kv));
  }
  // n tokens make at least n / chunk chunks and at most (n - 1) / chunk + 1.
  std::int64_t low = std::max(shortest, ceil_div(tile_reads, capacity));
  std::int64_t high = longest;
  if (tiles < capacity) {
    high = std::min(high, ceil_div(tile_reads - tiles, capacity - tiles));
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    std::int64_t ctas = 0;
    for (const CutRequests& requests : batch) {
      ctas += requests.q_tiles * requests.count * ceil_div(requests.kv, middle);
    }
    if (ctas > capacity) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct CutBatch {
  AttentionTile tile;
  std::int64_t group = 1;  // query heads of one KV head
  std::int64_t kv_heads = 1;
  bool causal = true;
  std::int64_t chunk = 0;
  std::vector<CutRequests> requests;

  std::int64_t tasks_per_request(const CutRequests& r) const {
    return checked_mul(r.q_tiles, r.chunks, kv_heads);
  }
};

CutBatch cut_batch(const AttentionConfig& a, const AttentionTile& tile, std::int64_t num_sms) {
  CutBatch batch{tile, group_size(a), a.kv_heads, a.causal, 0, {}};
  for (const EqualRequests& r : equal_requests(a)) {
    batch.requests.push_back({r.q, r.kv, r.count, ceil_div(checked_mul(r.q, batch.group), tile.q)});
  }
  // Pages of 16 tokens against plain tokens: for `paged` the bound is in pages, but the lengths are
  // tokens. A quirk of the published features, kept.
  const std::int64_t shortest = a.layout == KvLayout::paged ? 8 : 128;
  batch.chunk = kv_chunk(batch.requests, shortest, 2 * num_sms / a.kv_heads);
  std::int64_t tasks = 0;
  for (CutRequests& r : batch.requests) {
    r.chunks = ceil_div(r.kv, batch.chunk);
    tasks = checked_add(tasks, checked_mul(batch.tasks_per_request(r), r.count));
    check_attention_tasks(tasks);
  }
  return batch;
}

// Calls visit(iterations, count) for the tasks of one request in launch order, with a count of
// equal ones. Tasks without work (0 iterations) are among them.
template <class Visit>
void for_each_run(const CutBatch& batch, const CutRequests& r, const Visit& visit) {
  const AttentionTile& tile = batch.tile;
  const std::int64_t context = r.kv - r.q;  // before the first query; negative when q > kv
  // KV that the first `tiles` tiles may see.
  const auto visible = [&](std::int64_t tiles) {
    return batch.causal
               ? std::clamp<std::int64_t>(context + ceil_div(tiles * tile.q, batch.group), 0, r.kv)
               : r.kv;
  };
  if (r.chunks > 1) {
    for (std::int64_t j = 0; j < r.q_tiles; ++j) {
      for (std::int64_t start = 0; start < r.kv; start += batch.chunk) {
        const std::int64_t length =
            std::clamp<std::int64_t>(visible(j + 1) - start, 0, batch.chunk);
        visit(ceil_div(length, tile.kv), batch.kv_heads);
      }
    }
    return;
  }
  // Whole requests: all tiles that see no more than so many blocks of KV, block by block.
  const std::int64_t most = ceil_div(r.kv, tile.kv);
  std::int64_t iterations = ceil_div(visible(1), tile.kv);
  std::int64_t done = 0;
  if (iterations < most) {
    const std::int64_t rows_per_block = tile.kv * batch.group;
    std::int64_t rows = (iterations * tile.kv - context) * batch.group;  // that see no more
    std::int64_t end = rows / tile.q;
    rows %= tile.q;
    for (; iterations < most; ++iterations) {
      if (end > done) {
        visit(iterations, (end - done) * batch.kv_heads);
        done = end;
      }
      rows += rows_per_block;
      end += rows / tile.q;
      rows %= tile.q;
    }
  }
  visit(most, (r.q_tiles - done) * batch.kv_heads);
}

// Task j runs on SM j mod S in the first round of 2S, later on SM (j mod 2S) / 2: what the
// simulation with one step per task comes to.
std::vector<SmLoad> place_published(const CutBatch& batch, std::int64_t sms) {
  const std::int64_t slots = 2 * sms;
  CyclicSlots first_round(sms), later_rounds(slots);
  std::int64_t first_tasks = 0;
  std::int64_t slot = 0;  // of the next task in later rounds
  const auto give = [&](std::int64_t iterations, std::int64_t count) {
    const std::int64_t early = std::min(count, slots - first_tasks);
    first_round.add(first_tasks % sms, iterations, early, 1);
    first_tasks += early;
    slot = later_rounds.add(slot, iterations, count - early, 1);
  };
  for (const CutRequests& requests : batch.requests) {
    std::int64_t rest = requests.count;
    for (; rest > 0 && first_tasks < slots; --rest) {
      for_each_run(batch, requests, give);
    }
    const std::int64_t tasks = batch.tasks_per_request(requests);
    for_each_start(slot, tasks, rest, slots, [&](std::int64_t start, std::int64_t times) {
      for_each_run(batch, requests, [&](std::int64_t iterations, std::int64_t count) {
        start = later_rounds.add(start, iterations, count, times);
      });
    });
    slot = (slot + tasks * rest) % slots;
  }
  std::vector<SmLoad> loads = first_round.loads();
  const std::vector<SmLoad> later = later_rounds.loads();
  for (std::size_t i = 0; i < later.size(); ++i) {
    loads[i / 2].tasks += later[i].tasks;
    loads[i / 2].iterations += later[i].iterations;
  }
  return loads;
}

// Two slots per SM; the slot that finishes first (ties: the lower SM) takes the next task.
std::vector<SmLoad> place_faithful(const CutBatch& batch, std::int64_t sms) {
  LeastCostSms queue(sms, 2);
  for (const CutRequests& requests : batch.requests) {
    for (std::int64_t i = 0; i < requests.count; ++i) {
      for_each_run(batch, requests, [&](std::int64_t iterations, std::int64_t count) {
        queue.give(std::max<std::int64_t>(1, iterations), iterations, count);
      });
    }
  }
  return queue.loads();
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

AttentionSchedule schedule_fa2(const AttentionConfig& attention, const HardwareSpec& hardware,
                               Fa2Schedule mode) {
  const AttentionTile tile = fa2_tile(attention, hardware);
  const CutBatch batch = cut_batch(attention, tile, hardware.num_sms);
  return {tile, mode == Fa2Schedule::published ? place_published(batch, hardware.num_sms)
                                               : place_faithful(batch, hardware.num_sms)};
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
