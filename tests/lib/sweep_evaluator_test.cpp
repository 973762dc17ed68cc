// A sweep's numbers are those of predict_workload, whatever the cache holds.

#include "sweep_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator_cache.h"
#include "pw/model_loader.h"
#include "support/built.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/fake_model.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kSource = source_folder();

class SweepEvaluatorTest : public testing::Test {
 protected:
  SweepEvaluatorTest()
      : catalog_(HardwareCatalog::read(kSource / "hardware")),
        models_(load_models({kSource / "checkpoints", {}}, {"gemm", "attn"})),
        collectives_(CollectiveCatalog::read(kSource / "checkpoints/collectives.json")),
        engine_(read_engine_profile(kSource / "config/engines", "sglang")) {}

  std::vector<OperatorPredictor> predictors(const std::vector<std::string>& gpus) const {
    std::vector<OperatorPredictor> all;
    for (const std::string& gpu : gpus) all.emplace_back(catalog_.get(gpu), models_);
    return all;
  }
  SweepEvaluator evaluator(const std::vector<std::string>& gpus,
                           std::size_t cache_bytes = SweepEvaluator::kCacheBytes) const {
    return {predictors(gpus), collectives_, engine_, cache_bytes};
  }
  void expect_equal(const SweepResult& result, const Workload& workload,
                    const OperatorPredictor& predictor) const {
    const Prediction expected = predict_workload(workload, predictor, collectives_, engine_);
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(result.summary.prefill_us, expected.summary.prefill_us);
    EXPECT_EQ(result.summary.decode_average_us, expected.summary.decode_average_us);
    EXPECT_EQ(result.summary.decode_total_us, expected.summary.decode_total_us);
    EXPECT_EQ(result.summary.total_us, expected.summary.total_us);
    EXPECT_EQ(result.summary.decode_steps, expected.summary.decode_steps);
    EXPECT_EQ(result.output_tokens, expected.output_tokens);
    EXPECT_EQ(result.memory.weight_bytes, expected.memory.weight_bytes);
    EXPECT_EQ(result.memory.kv_cache_bytes, expected.memory.kv_cache_bytes);
    EXPECT_EQ(result.gpu_memory_bytes, expected.hardware.global_memory_bytes);
    for (std::size_t i = 0; i < kFactKinds; ++i) {
      const auto kind = static_cast<FactKind>(i);
      if (kind == FactKind::error_band) continue;
      EXPECT_EQ(result.facts.test(i), expected.facts.has(kind)) << to_string(kind);
    }
  }

  HardwareCatalog catalog_;
  ModelSet models_;
  CollectiveCatalog collectives_;
  EngineProfile engine_;
  std::atomic<bool> stop_{false};
};

TEST_F(SweepEvaluatorTest, GivesExactlyTheNumbersOfAPrediction) {
  const std::vector<std::string> gpus = {"H100", "A100", "L40", "H20"};
  const SweepEvaluator sweep = evaluator(gpus);
  // Requests that leave at different times, more iterations than are worked on at once; equal ones.
  const Trace traces[] = {{"t", {{900, 301}, {37, 5}, {2000, 301}, {64, 1}}, {}},
                          uniform_trace(3, 500, 1),
                          uniform_trace(70, 1000, 40)};
  for (const Trace& trace : traces) {
    for (const std::int64_t tp : {1, 2}) {
      WorkloadOptions options;
      options.tp_size = tp;
      options.pp_size = 2;
      options.decode_kernel = AttentionKernel::fa2;
      SCOPED_TRACE(trace.stem + " tp " + std::to_string(tp));
      const Workload workload = generate_workload(qwen2_5_14b(), trace, options);
      const std::vector<SweepResult> results = sweep.evaluate(qwen2_5_14b(), trace, options, stop_);
      ASSERT_EQ(results.size(), gpus.size());
      for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
        SCOPED_TRACE(gpus[gpu]);
        expect_equal(results[gpu], workload, sweep.gpus()[gpu]);
      }
    }
  }
}

TEST_F(SweepEvaluatorTest, ComputesEqualOperatorsOnceUnlessForgotten) {
  const Trace trace = uniform_trace(4, 300, 20);
  const SweepEvaluator sweep = evaluator({"H100", "A100"});
  const auto once = sweep.evaluate(demo_model(), trace, {}, stop_);
  const std::uint64_t predictions = sweep.operator_predictions();
  // prefill: 5 GEMMs and one each of the others; decode: the same for one number of tokens, less
  // the lm_head of prefill, with an attention for each of 19 steps.
  EXPECT_EQ(predictions, 2 * (8 + 6 + 19));
  ModelConfig renamed = demo_model();
  renamed.stem = "Other";
  const auto again = sweep.evaluate(renamed, trace, {}, stop_);
  EXPECT_EQ(sweep.operator_predictions(), predictions);
  EXPECT_EQ(again[1].summary.total_us, once[1].summary.total_us);

  const SweepEvaluator forgetful = evaluator({"H100", "A100"}, 0);
  EXPECT_EQ(forgetful.evaluate(demo_model(), trace, {}, stop_)[1].summary.total_us,
            once[1].summary.total_us);
}

TEST_F(SweepEvaluatorTest, AnImpossibleWorkloadIsAResult) {
  WorkloadOptions options;
  options.tp_size = 3;
  const auto results =
      evaluator({"H100", "A100"}).evaluate(demo_model(), uniform_trace(1, 8, 2), options, stop_);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[1].problem, HasSubstr("num_attention_heads 16 is not divisible by 3"));
  options.tp_size = 1;
  options.pp_size = 5;
  EXPECT_THAT(
      evaluator({"H100"}).evaluate(demo_model(), uniform_trace(1, 8, 2), options, stop_)[0].problem,
      HasSubstr("every pipeline stage needs a layer"));
}

TEST_F(SweepEvaluatorTest, AGpuThatAModelRefusesLeavesTheOthers) {
  HardwareSpec incomplete = catalog_.get("A100");
  incomplete.l2_cache_kib = 0;
  std::vector<OperatorPredictor> gpus = predictors({"H100"});
  gpus.emplace_back(incomplete, models_);
  const SweepEvaluator sweep(std::move(gpus), collectives_, engine_);
  const Trace trace = uniform_trace(2, 100, 5);
  const auto results = sweep.evaluate(demo_model(), trace, {}, stop_);
  ASSERT_EQ(results.size(), 2u);
  expect_equal(results[0], generate_workload(demo_model(), trace, {}), sweep.gpus()[0]);
  EXPECT_THAT(results[1].problem, HasSubstr("l2CacheSize"));
}

TEST_F(SweepEvaluatorTest, GivesUpWhenStopped) {
  stop_ = true;
  EXPECT_TRUE(
      evaluator({"H100"}).evaluate(demo_model(), uniform_trace(1, 8, 600), {}, stop_).empty());
}

TEST(OperatorKey, DiffersWithEveryNumber) {
  AttentionConfig attention;
  attention.q_lengths = {1, 1};
  attention.kv_lengths = {7, 8};
  attention.query_heads = 8;
  attention.kv_heads = 2;
  attention.head_dim = 128;
  AttentionConfig swapped = attention, longer = attention, paged = attention, cold = attention,
                  moved = attention;
  std::swap(swapped.kv_lengths[0], swapped.kv_lengths[1]);
  longer.kv_lengths[1] = 9;
  paged.layout = KvLayout::paged;
  cold.kv_copies = kColdCopies;
  moved.q_lengths = {1};
  moved.kv_lengths = {1, 7, 8};
  GemmConfig gemm{8, 16, 32};
  GemmConfig copies = gemm, tiled = gemm;
  copies.weight_copies = 1;
  tiled.tile = GemmTile{128, 128, 64, 1, false};
  const std::vector<OperatorConfig> different = {attention,
                                                 swapped,
                                                 longer,
                                                 paged,
                                                 cold,
                                                 moved,
                                                 gemm,
                                                 copies,
                                                 tiled,
                                                 GemmConfig{16, 8, 32},
                                                 RmsNormConfig{8, 16},
                                                 SiluMulConfig{8, 16},
                                                 Fp8GemmConfig{8, 16, 32}};
  for (const OperatorConfig& a : different) {
    for (const OperatorConfig& b : different) {
      EXPECT_EQ(key_of(a) == key_of(b), &a == &b) << describe(a) << " and " << describe(b);
    }
  }
  EXPECT_EQ(key_of(attention), key_of(AttentionConfig(attention)));
}

TEST(OperatorCache, KeepsWhatIsAskedForAndForgetsTheRest) {
  // Room for one recent entry in each of 64 parts, and one older.
  OperatorCache cache(1, 0);
  const auto key = [](std::uint64_t number) { return OperatorKey{number, 0}; };
  const auto insert = [&](std::uint64_t number) {
    cache.insert(key(number), std::make_shared<OperatorTimes>(
                                  OperatorTimes{{static_cast<double>(number), false}}));
  };
  EXPECT_EQ(cache.find(key(1)), nullptr);
  insert(1);
  insert(2);
  ASSERT_NE(cache.find(key(1)), nullptr);  // now the most recent
  EXPECT_EQ(cache.find(key(1))->front().duration_us, 1);
  insert(3);
  EXPECT_NE(cache.find(key(1)), nullptr);
  EXPECT_EQ(cache.find(key(2)), nullptr);
}

}  // namespace
}  // namespace pw
