// Workload files as people bring them, and numbers at their limits. The names of these tests are
// those of the failure reports that they answer.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/collective.h"
#include "pw/data_paths.h"
#include "pw/int_math.h"
#include "pw/prediction.h"
#include "pw/workload.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/fake_model.h"
#include "support/steps.h"
#include "support/temporary_folder.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// One prefill of two requests, as pw-workload writes it.
Json small_workload() {
  return parse_json(
      workload_json(generate_workload(demo_model(), uniform_trace(2, 48, 1), {}), false), "small");
}

// What reading says of the workload after `change`.
template <class Change>
std::string error_after(Change&& change) {
  Json json = small_workload();
  change(json["iterations"][0]);
  const TemporaryFolder folder;
  const auto path = folder.file("w.json", json.dump());
  const std::string error = error_of([&] { read_workload(path); });
  EXPECT_THAT(error, AllOf(HasSubstr("w.json"), Not(HasSubstr("\n"))));
  return error;
}

Op gemm(const char* name, GemmConfig problem, std::int64_t calls) {
  return {OperatorGroup::gemm, name, "Linear", problem, calls};
}

Workload with_gemms(std::vector<Op> gemms) {
  Workload workload = generate_workload(demo_model(), uniform_trace(1, 1, 1), {});
  workload.steps[0].attention.clear();
  workload.steps[0].body = std::make_shared<StepBody>(StepBody{std::move(gemms), {}, {}});
  return workload;
}

Prediction predict(const Workload& workload) {
  const OperatorPredictor predictor(test_ampere(),
                                    {{"gemm", loaded(constant_model("gemm", 0.4F))},
                                     {"attn", loaded(constant_model("attn", 0.3F))}});
  return predict_workload(workload, predictor, CollectiveCatalog{});
}

TEST(HardInputs, F01TinyAndOddShapesHaveFinitePositiveTimes) {
  const Prediction result = predict(with_gemms(
      {gemm("one", {1, 4096, 4096}, 3), gemm("many", {16, 4096, 4096}, 3),
       gemm("shallow", {100, 4096, 4}, 3), gemm("narrow", {100, 1, 4096}, 3),
       gemm("unit", {1, 1, 1}, 3), gemm("wide", {1, 300001, 64}, 1), gemm("never", {7, 7, 7}, 0)}));
  double total = 0;
  for (const OperatorTime& time : result.iterations[0].operators) {
    EXPECT_TRUE(std::isfinite(time.single_us) && time.single_us > 0) << time.name;
    total += time.single_us * static_cast<double>(time.count);
  }
  EXPECT_DOUBLE_EQ(result.summary.total_us, total);
  const auto& times = result.iterations[0].operators;
  EXPECT_LE(times[0].single_us, times[1].single_us * 1.05);
  EXPECT_EQ(times[6].total_us(), 0);
}

TEST(HardInputs, F01ImpossibleDimensionsAreNamed) {
  for (const char* dimension : {"M", "N", "K"}) {
    for (const Json& value : {Json(0), Json(-3), Json(1.5), Json("7"), Json(nullptr)}) {
      const std::string error =
          error_after([&](Json& it) { it["operators"]["gemm"][1][dimension] = value; });
      EXPECT_THAT(error, HasSubstr("gemm[1] (o_proj)." + std::string(dimension))) << value;
    }
  }
  EXPECT_THAT(error_after([](Json& it) { it["operators"]["gemm"][0]["count"] = -1; }),
              HasSubstr("count is -1"));
}

TEST(HardInputs, F02EmptyAndZeroLengthsAreNamed) {
  EXPECT_THAT(error_after([](Json& it) { it["kv_lengths"][1] = 0; }),
              HasSubstr("iterations[0].kv_lengths[1] is 0"));
  EXPECT_THAT(error_after([](Json& it) { it["q_lengths"][0] = 0; }),
              HasSubstr("iterations[0].q_lengths[0] is 0"));
  EXPECT_THAT(error_after([](Json& it) { it["kv_lengths"][0] = 40; }),
              HasSubstr("kv_lengths[0] is 40, expected at least q_lengths = 48"));
  EXPECT_THAT(error_after([](Json& it) {
                it["q_lengths"] = Json::array();
                it["kv_lengths"] = Json::array();
              }),
              HasSubstr("iterations[0].q_lengths is empty"));
  EXPECT_THAT(error_after([](Json& it) { it["batch_size"] = 3; }),
              HasSubstr("batch_size is 3, expected the number of q_lengths = 2"));
  EXPECT_THAT(error_after([](Json& it) { it["operators"]["attention"]["bs"] = 3; }),
              HasSubstr("has 2 entries, expected bs = 3"));
  for (const char* key : {"q_lengths", "kv_lengths"}) {
    EXPECT_THAT(error_after([&](Json& it) { it["operators"]["attention"][key] = {48}; }),
                HasSubstr("attention." + std::string(key)));
  }
}

TEST(HardInputs, F02QueriesBeyondTheContextNeedNoMask) {
  AttentionConfig attention;
  attention.query_heads = attention.kv_heads = 8;
  attention.head_dim = 64;
  attention.q_lengths = {10, 90};
  attention.kv_lengths = {10, 30};
  EXPECT_THAT(error_of([&] { operator_ratios(attention, test_ampere()); }),
              HasSubstr("kv_lengths[1] is 30, expected at least q_lengths = 90"));
  attention.causal = false;
  EXPECT_GT(operator_ratios(attention, test_ampere()).bound_us, 0);
}

TEST(HardInputs, F04HeadsThatDoNotGroupAreNamed) {
  for (const std::int64_t kv_heads : {3, 0, 32, -1}) {
    EXPECT_THAT(error_after([&](Json& it) { it["operators"]["attention"]["nkv"] = kv_heads; }),
                HasSubstr("attention.nkv is " + std::to_string(kv_heads)));
  }
  EXPECT_THAT(error_after([](Json& it) { it["operators"]["attention"]["nkv"] = 3; }),
              HasSubstr("with nh = 16"));
  for (const std::int64_t head_dim : {64, 72, 80, 96, 112, 128, 160, 192, 256}) {
    ModelConfig model = demo_model();
    model.layers[0].attention.head_dim = head_dim;
    const Prediction result = predict(generate_workload(model, uniform_trace(3, 70, 2), {}));
    EXPECT_TRUE(std::isfinite(result.summary.total_us) && result.summary.total_us > 0) << head_dim;
  }
}

TEST(HardInputs, F06MillionsOfTokensStayExact) {
  WorkloadOptions options;
  options.tp_size = 2;
  const Workload workload =
      generate_workload(demo_model(), uniform_trace(3, std::int64_t{1} << 20, 2), options);
  EXPECT_EQ(num_tokens(workload.steps[0].batch), 3145728);
  EXPECT_EQ(workload.steps[0].body->transfers[0].volume_bytes, 12884901888);
  const AttentionConfig& attention = attention_of(workload.steps[0]);
  double pairs = 0;
  for (const std::int64_t q : attention.q_lengths) {
    pairs += static_cast<double>(q) * static_cast<double>(q + 1) / 2;
  }
  EXPECT_NEAR(pairs, 1.649e12, 1e9);
  // Two products of 2 operations per pair and head, a little more for the tiles on the diagonal.
  const double ops = analyze_operator(attention, test_ampere()).tensor.all_ops;
  EXPECT_GE(ops, 4 * pairs * 8 * 128);
  EXPECT_LE(ops, 4 * pairs * 8 * 128 * 1.05);
  const PipelineFeatures gemm =
      analyze_operator(GemmConfig{std::int64_t{1} << 20, 57344, 8192}, test_ampere());
  EXPECT_DOUBLE_EQ(gemm.tensor.all_ops, 985162418487296.0);
}

TEST(HardInputs, F06LargerWorkIsSlowerUpToItsLimits) {
  const auto decode_us = [](std::int64_t requests) {
    return predict(generate_workload(demo_model(), uniform_trace(requests, 900, 2), {}))
        .summary.decode_total_us;
  };
  EXPECT_GT(decode_us(5000), decode_us(500));
  EXPECT_THAT(error_of([] {
                analyze_operator(GemmConfig{std::int64_t{1} << 40, std::int64_t{1} << 40, 8},
                                 test_ampere());
              }),
              HasSubstr("gemm"));
  ModelConfig model = demo_model();
  model.hidden_size = 2147483647;
  model.layers[0].count = 2147483647;
  EXPECT_THAT(error_of([&] {
                const Workload workload =
                    generate_workload(model, uniform_trace(1 << 20, 2147483647, 1), {});
                predict(workload);
              }),
              HasSubstr("2^63"));
}

TEST(HardInputs, F08OperatorsWithoutAModelAreNamedFirst) {
  const std::string error = error_after([](Json& it) {
    it["operators"]["top_k_gating"] = {{"seq", 48}, {"count", 6}};
    it["operators"]["communication"] = {
        {{"name", "all_gather"}, {"type", "collective"}, {"volume_bytes", 4096}, {"count", 6}}};
    it["phase"] = "warm-up";
  });
  EXPECT_THAT(error, AllOf(HasSubstr("operator top_k_gating"), HasSubstr("collective all_gather")));
  EXPECT_THAT(error_after([](Json& it) { it["phase"] = "warm-up"; }),
              HasSubstr("phase is \"warm-up\", expected prefill or decode"));
  EXPECT_THAT(error_after([](Json& it) { it["operators"] = Json::object(); }),
              HasSubstr("operators is empty"));
  const TemporaryFolder folder;
  for (const Json& iterations : {Json::array(), Json(nullptr), Json(7)}) {
    Json json = small_workload();
    json["iterations"] = iterations;
    const auto path = folder.file("w.json", json.dump());
    EXPECT_THAT(error_of([&] { read_workload(path); }), HasSubstr("iterations"));
  }
}

TEST(HardInputs, F08UnknownNumberFormatsOfAGemmAreNamed) {
  EXPECT_THAT(error_after([](Json& it) { it["operators"]["gemm"][0]["dtype"] = "int4"; }),
              HasSubstr("dtype is \"int4\", expected fp8, bfloat16 or float16"));
}

}  // namespace
}  // namespace pw
