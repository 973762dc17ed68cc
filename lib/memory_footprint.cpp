#include "pw/memory_footprint.h"

#include <algorithm>
#include <numeric>

#include "parallel_split.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;
constexpr std::int64_t kFp8Bytes = 1;

// Bytes of one layer's weights on one rank; what a rank count does not divide is rounded up, so
// that every workload file has an answer.
std::int64_t layer_bytes(const ModelConfig& m, std::int64_t tp_size) {
  const std::int64_t query_heads = ceil_div(m.num_attention_heads, tp_size);
  const std::int64_t kv_heads = ceil_div(m.num_key_value_heads, tp_size);
  const std::int64_t attention =
      checked_mul(m.hidden_size, 2 * query_heads + 2 * kv_heads, m.head_dim);
  const std::int64_t mlp = checked_mul(3, m.hidden_size, ceil_div(m.intermediate_size, tp_size));
  const std::int64_t norms = 2 * m.hidden_size;
  return checked_add(checked_mul(m.fp8 ? kFp8Bytes : kBf16Bytes, checked_add(attention, mlp)),
                     checked_mul(kBf16Bytes, norms));
}

// Embedding, lm_head and the norm before it, as far as the stage holds them. A tied lm_head is a
// copy of the embedding only where the two stand on different stages.
std::int64_t end_weights(const ModelConfig& m, std::int64_t tp_size, bool first_stage,
                         bool last_stage) {
  const bool shared = m.tied_embeddings && first_stage && last_stage;
  const std::int64_t tables = shared ? 1 : (first_stage ? 1 : 0) + (last_stage ? 1 : 0);
  const std::int64_t table = checked_mul(vocab_per_rank(m.vocab_size, tp_size), m.hidden_size);
  return checked_add(checked_mul(tables, table), last_stage ? m.hidden_size : 0);
}

std::int64_t longest_total_context(const Workload& workload) {
  std::int64_t longest = 0;
  for (const Step& step : workload.steps) {
    const std::vector<std::int64_t>& contexts = step.batch.kv_lengths;
    longest = std::max(longest, std::accumulate(contexts.begin(), contexts.end(), std::int64_t{0}));
  }
  return longest;
}

}  // namespace

bool fits(const MemoryFootprint& memory, std::int64_t gpu_memory_bytes) {
  return gpu_memory_bytes == 0 || memory.weight_bytes + memory.kv_cache_bytes <= gpu_memory_bytes;
}

MemoryFootprint memory_footprint(const Workload& workload) {
  return memory_footprint(workload.model, workload.tp_size, workload.pp_size,
                          longest_total_context(workload));
}

MemoryFootprint memory_footprint(const ModelConfig& m, std::int64_t tp_size, std::int64_t pp_size,
                                 std::int64_t longest_total_context) {
  const std::vector<std::int64_t> stages = split_into_stages(m.num_hidden_layers, pp_size);
  const std::int64_t kv_bytes_per_layer = checked_mul(
      longest_total_context, 2 * kBf16Bytes, ceil_div(m.num_key_value_heads, tp_size), m.head_dim);
  MemoryFootprint worst;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::int64_t ends = end_weights(m, tp_size, stage == 0, stage + 1 == stages.size());
    const MemoryFootprint rank{checked_add(checked_mul(stages[stage], layer_bytes(m, tp_size)),
                                           checked_mul(kBf16Bytes, ends)),
                               checked_mul(stages[stage], kv_bytes_per_layer)};
    if (checked_add(rank.weight_bytes, rank.kv_cache_bytes) >
        worst.weight_bytes + worst.kv_cache_bytes) {
      worst = rank;
    }
  }
  return worst;
}

}  // namespace pw
