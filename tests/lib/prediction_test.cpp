#include "pw/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "support/demo_model.h"
#include "support/fake_model.h"
#include "support/steps.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

CollectiveCatalog linear_collectives() {
  CollectiveCurve curve;
  curve.bytes = {1000, 1e9};
  curve.duration_us = {10, 1e7};
  CollectiveModel model;
  model.hardware = "NVIDIA A100-SXM4-80GB";
  model.collective = "all_reduce";
  model.curves[2] = curve;
  return CollectiveCatalog({model});
}

class PredictionTest : public testing::Test {
 protected:
  Prediction predict(const WorkloadOptions& options, std::int64_t output_tokens = 4) {
    const Workload workload =
        generate_workload(demo_model(), uniform_trace(3, 100, output_tokens), options);
    const OperatorPredictor predictor(test_ampere(),
                                      {{"gemm", loaded(gemm_)}, {"attn", loaded(attention_)}});
    return predict_workload(workload, predictor, linear_collectives());
  }

  std::shared_ptr<FakeModel> gemm_ = constant_model("gemm", 0.5f);
  std::shared_ptr<FakeModel> attention_ = constant_model("attn", 0.5f);
};

TEST_F(PredictionTest, SumsOperatorsIterationsAndPhases) {
  const Prediction p = predict({});
  ASSERT_EQ(p.iterations.size(), 4u);
  double total = 0, decode = 0;
  for (const IterationTime& iteration : p.iterations) {
    double sum = 0;
    for (const OperatorTime& time : iteration.operators) {
      EXPECT_GT(time.single_us, 0) << time.name;
      sum += time.single_us * static_cast<double>(time.count);
    }
    EXPECT_DOUBLE_EQ(iteration.total_us, sum);
    total += sum;
    decode += iteration.phase == Phase::decode ? sum : 0;
  }
  EXPECT_DOUBLE_EQ(p.summary.total_us, total);
  EXPECT_DOUBLE_EQ(p.summary.decode_total_us, decode);
  EXPECT_DOUBLE_EQ(p.summary.decode_average_us, decode / 3);
  EXPECT_DOUBLE_EQ(p.summary.prefill_us, p.iterations[0].total_us);
  EXPECT_EQ(p.requests, 3);
  EXPECT_EQ(p.prompt_tokens, 300);
  EXPECT_EQ(p.output_tokens, 12);
}

TEST_F(PredictionTest, ComputesEqualOperatorsOnce) {
  predict({}, 50);
  EXPECT_EQ(gemm_->calls, 1u);
  // Four projections in prefill and four in all 49 decode steps; lm_head is the same in both.
  EXPECT_EQ(gemm_->rows, 9u);
  EXPECT_EQ(attention_->rows, 50u);
}

TEST_F(PredictionTest, PrefillAloneHasNoDecode) {
  const Prediction p = predict({}, 1);
  EXPECT_EQ(p.summary.decode_steps, 0);
  EXPECT_EQ(p.summary.decode_average_us, 0);
  EXPECT_EQ(p.summary.total_us, p.summary.prefill_us);
}

TEST_F(PredictionTest, CollectivesAreSummedAndTheirNotesKept) {
  WorkloadOptions options;
  options.tp_size = 4;
  const Prediction p = predict(options);
  const OperatorTime& all_reduce = p.iterations[0].operators.back();
  EXPECT_EQ(all_reduce.group, OperatorGroup::communication);
  EXPECT_EQ(all_reduce.name, "all_reduce");
  EXPECT_GT(all_reduce.single_us, 0);
  EXPECT_THAT(sentences(p.facts), Contains(HasSubstr("worker")));
}

TEST_F(PredictionTest, NotesKernelsThatEnginesDoNotRunOnTheGpu) {
  WorkloadOptions options;
  EXPECT_THAT(sentences(predict(options).facts), Not(Contains(HasSubstr("fa3"))));
  options.prefill_kernel = AttentionKernel::fa3;
  EXPECT_THAT(sentences(predict(options).facts),
              Contains(HasSubstr("asks for fa3_ragged in prefill")));
  options.prefill_kernel = AttentionKernel::ck;
  EXPECT_THAT(sentences(predict(options).facts),
              Contains(HasSubstr("asks for ck_ragged in prefill, engines run fa2_ragged on")));
}

TEST_F(PredictionTest, NotesModelsOfKernelsThatWereProfiledThroughLibTorch) {
  gemm_->record().training = {{"kernel_source", "LibTorch 9.9 linear (cuBLAS)"}};
  attention_->record().training = {{"kernel_source", "flash_attention"}};
  const Prediction p = predict({});
  EXPECT_THAT(sentences(p.facts),
              Contains("gemm: fitted on kernels of LibTorch 9.9 linear (cuBLAS), a serving "
                       "engine may run others"));
  EXPECT_THAT(sentences(p.facts), Not(Contains(HasSubstr("flash_attention"))));
}

TEST_F(PredictionTest, SaysWhenTheModelDoesNotFit) {
  Prediction p = predict({});
  EXPECT_TRUE(p.fits());
  EXPECT_THAT(prediction_text(p), HasSubstr("fits"));
  p.hardware.global_memory_bytes = 1000;
  EXPECT_FALSE(p.fits());
  EXPECT_THAT(prediction_text(p), HasSubstr("DOES NOT FIT"));
  p.hardware.global_memory_bytes = 0;  // not known
  EXPECT_TRUE(p.fits());
}

TEST_F(PredictionTest, JsonHasThePublishedKeysFirstAndOursAfter) {
  const Prediction p = predict({});
  const Json ours = parse_json(prediction_json(p, PredictionDetail::iterations), "ours");
  std::vector<std::string> keys;
  for (const auto& [key, value] : ours.items()) {
    keys.push_back(key);
  }
  EXPECT_THAT(keys, testing::ElementsAre("model", "hardware", "tp_size", "pp_size", "iterations",
                                         "summary", "bands", "case", "memory", "facts",
                                         "provenance", "schema_version"));
  const Json published = parse_json(prediction_json(p, PredictionDetail::published), "published");
  EXPECT_FALSE(published.contains("case"));
  const Json& first = published["iterations"][0];
  std::vector<std::string> groups;
  for (const auto& [key, value] : first["operator_durations"].items()) {
    groups.push_back(key);
  }
  EXPECT_THAT(groups, testing::ElementsAre("gemm", "attention", "rmsnorm", "siluandmul"));
  EXPECT_EQ(first["operator_durations"]["gemm"]["qkv_proj"]["count"], 4);
  EXPECT_NEAR(published["summary"]["total_duration_ms"].get<double>(), p.summary.total_us / 1000,
              5.1e-7);
}

TEST_F(PredictionTest, SummaryJsonHasSumsOverAllIterations) {
  const Prediction p = predict({});
  const Json json = parse_json(prediction_json(p, PredictionDetail::summary), "summary");
  EXPECT_FALSE(json.contains("iterations"));
  double prefill = 0, decode = 0, total = 0;
  for (const Json& entry : json["operators"]) {
    prefill += entry["prefill_ms"].get<double>();
    decode += entry["decode_avg_ms"].get<double>();
    total += entry["total_ms"].get<double>();
  }
  EXPECT_NEAR(prefill, p.summary.prefill_us / 1000, 1e-5);
  EXPECT_NEAR(decode, p.summary.decode_average_us / 1000, 1e-5);
  EXPECT_NEAR(total, p.summary.total_us / 1000, 1e-5);
}

TEST_F(PredictionTest, TextSharesAddUp) {
  const std::string text = prediction_text(predict({}));
  EXPECT_THAT(text, HasSubstr("Demo on NVIDIA A100-SXM4-80GB, tp 1, pp 1"));
  EXPECT_THAT(text, HasSubstr("3 requests, 300 prompt tokens, 12 output tokens"));
  EXPECT_THAT(text, HasSubstr("qkv_proj"));
  EXPECT_THAT(text, testing::ContainsRegex("sum .*100.0%.*100.0%.*100.0%"));
}

TEST_F(PredictionTest, FileNameJoinsWorkloadAndGpu) {
  Prediction p = predict({});
  p.hardware.stem = "RTX 6000 Ada";
  EXPECT_EQ(prediction_file_name(p), p.workload + "_RTX_6000_Ada.json");
}

}  // namespace
}  // namespace pw
