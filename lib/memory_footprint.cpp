#include "pw/memory_footprint.h"

#include <algorithm>
#include <numeric>

#include "parallel_split.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;
constexpr std::int64_t kFp8Bytes = 1;

std::int64_t layer_bytes(const ModelConfig& model, const LayerGroup& group, std::int64_t tp_size) {
  const LayerParameters layer = layer_parameters(model, group, tp_size);
  return checked_add(checked_mul(model.fp8 ? kFp8Bytes : kBf16Bytes, layer.matrices),
                     checked_mul(kBf16Bytes, layer.others));
}

// The mean over the layers, rounded up: where they differ, which of them a stage holds is not told.
struct LayerBytes {
  std::int64_t weights = 0, kv_per_token = 0;
};
LayerBytes average_layer(const ModelConfig& model, std::int64_t tp_size) {
  std::int64_t weights = 0;
  for (const LayerGroup& group : model.layers) {
    weights = checked_add(weights, checked_mul(group.count, layer_bytes(model, group, tp_size)));
  }
  const std::int64_t layers = layer_count(model);
  return {ceil_div(weights, layers), ceil_div(kv_bytes_per_token(model, tp_size), layers)};
}

// Embedding, positions, lm_head and the norms around, as far as the stage holds them. A tied
// lm_head is a copy of the embedding only where the two stand on different stages.
std::int64_t end_weights(const ModelConfig& m, std::int64_t tp_size, bool first_stage,
                         bool last_stage) {
  const bool shared = m.tied_embeddings && first_stage && last_stage;
  const std::int64_t tables = shared ? 1 : (first_stage ? 1 : 0) + (last_stage ? 1 : 0);
  const std::int64_t vocabulary = vocab_per_rank(m.vocab_size, tp_size);
  const std::int64_t norm = (m.norm == NormKind::layer ? 2 : 1) * m.hidden_size;
  std::int64_t sum = checked_mul(tables, checked_mul(vocabulary, m.hidden_size));
  if (first_stage) {
    sum = checked_add(sum, checked_mul(m.learned_positions, m.hidden_size));
    if (m.embedding_norm) sum = checked_add(sum, norm);
  }
  if (last_stage) {
    if (m.final_norm) sum = checked_add(sum, norm);
    if (m.lm_head_bias) sum = checked_add(sum, vocabulary);
  }
  return sum;
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
  const std::vector<std::int64_t> stages = split_into_stages(layer_count(m), pp_size);
  const LayerBytes layer = average_layer(m, tp_size);
  const std::int64_t kv_bytes_per_layer = checked_mul(longest_total_context, layer.kv_per_token);
  MemoryFootprint worst;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::int64_t ends = end_weights(m, tp_size, stage == 0, stage + 1 == stages.size());
    const MemoryFootprint rank{
        checked_add(checked_mul(stages[stage], layer.weights), checked_mul(kBf16Bytes, ends)),
        checked_mul(stages[stage], kv_bytes_per_layer)};
    if (checked_add(rank.weight_bytes, rank.kv_cache_bytes) >
        worst.weight_bytes + worst.kv_cache_bytes) {
      worst = rank;
    }
  }
  return worst;
}

}  // namespace pw
