#include "pw/memory_footprint.h"

#include <gtest/gtest.h>

#include "support/demo_model.h"

namespace pw {
namespace {

WorkloadOptions parallel(std::int64_t tp_size, std::int64_t pp_size) {
  WorkloadOptions options;
  options.tp_size = tp_size;
  options.pp_size = pp_size;
  return options;
}

Workload workload(const ModelConfig& model, const WorkloadOptions& options) {
  return generate_workload(model, {"t", {{1000, 11}, {500, 1}}, {}}, options);
}

// 14.77e9 parameters, as the model card says; per layer 275,251,200 and two norms of 5120, two
// tables of 152064 x 5120 and a last norm.
TEST(MemoryFootprint, MatchesQwen14BByHand) {
  const MemoryFootprint memory = memory_footprint(workload(qwen2_5_14b(), {}));
  EXPECT_EQ(memory.weight_bytes,
            2 * (48 * (275'251'200LL + 2 * 5120) + 2 * 152064LL * 5120 + 5120));
  EXPECT_NEAR(static_cast<double>(memory.weight_bytes), 29.54e9, 0.01e9);
}

TEST(MemoryFootprint, CountsTiedEmbeddingsOnce) {
  ModelConfig tied = qwen2_5_14b();
  tied.tied_embeddings = true;
  const auto bytes = [](const ModelConfig& model, const WorkloadOptions& options) {
    return memory_footprint(workload(model, options)).weight_bytes;
  };
  EXPECT_EQ(bytes(qwen2_5_14b(), {}) - bytes(tied, {}), 2 * 152064LL * 5120);
  EXPECT_EQ(bytes(qwen2_5_14b(), parallel(1, 2)), bytes(tied, parallel(1, 2)));
}

// The prefill holds 1000 + 500 tokens; afterwards the second request is gone.
TEST(MemoryFootprint, TakesTheLongestTotalContext) {
  EXPECT_EQ(memory_footprint(workload(demo_model(2), {})).kv_cache_bytes,
            2 * 4 * 2 * 128 * 2LL * 1500);
  const Workload longer = generate_workload(demo_model(2), {"t", {{10, 500}}, {}}, {});
  EXPECT_EQ(memory_footprint(longer).kv_cache_bytes, 2 * 4 * 2 * 128 * 2LL * 509);
}

TEST(MemoryFootprint, ShardsOverRanksAndStages) {
  ModelConfig model = demo_model(2);
  model.layers[0].count = 5;
  const std::int64_t layer_on_4_ranks = 2048 * 128 * (4 + 4 + 1 + 1) + 3 * 2048 * 1408 + 2 * 2048;
  const std::int64_t table_on_4_ranks = 8000 * 2048;
  // KV heads are replicated: one on each of 4 ranks. The stages have 3 and 2 layers.
  const MemoryFootprint memory = memory_footprint(workload(model, parallel(4, 2)));
  EXPECT_EQ(memory.weight_bytes, 2 * (3 * layer_on_4_ranks + table_on_4_ranks));
  EXPECT_EQ(memory.kv_cache_bytes, 2 * 3 * 1 * 128 * 2LL * 1500);
  // Equal stages: the last one has the norm before lm_head besides its table.
  model.layers[0].count = 4;
  EXPECT_EQ(memory_footprint(workload(model, parallel(4, 2))).weight_bytes,
            2 * (2 * layer_on_4_ranks + table_on_4_ranks + 2048));
}

}  // namespace
}  // namespace pw
