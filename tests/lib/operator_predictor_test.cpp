#include "pw/operator_predictor.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/elementwise.h"
#include "support/error_of.h"
#include "support/fake_model.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::HasSubstr;

const GemmConfig kGemm{512, 4096, 4096, std::nullopt};

TEST(OperatorPredictor, DividesIdealCyclesByTheModelsOutput) {
  const OperatorPredictor predictor(test_ampere(),
                                    {{"gemm", loaded(constant_model("gemm", 0.5f))}});
  const OperatorPrediction prediction = predictor.predict({kGemm}).front();
  const double cycles = analyze_operator(kGemm, test_ampere()).tensor.all_cycles;
  EXPECT_DOUBLE_EQ(*prediction.fraction_of_reference, 0.5);
  EXPECT_NEAR(prediction.duration_us, cycles / (0.5 * 1410), 1e-6 * cycles / 705);
}

TEST(OperatorPredictor, FeedsFeaturesInTheOrderOfTheRecord) {
  const auto model =
      std::make_shared<FakeModel>("gemm", [](const float* f) { return f[0] * 1e-9f; });
  std::swap(model->record().features[0], model->record().features[4]);  // global_in_flight first
  const OperatorPredictor predictor(test_ampere(), {{"gemm", loaded(model)}});
  const double kib = analyze_operator(kGemm, test_ampere()).memory.global_kib;
  EXPECT_NEAR(*predictor.predict({kGemm}).front().fraction_of_reference, kib * 1e-9,
              1e-6 * kib * 1e-9);
}

TEST(OperatorPredictor, EvaluatesEachFamilyInOnePassAndKeepsTheOrder) {
  const auto gemm = constant_model("gemm", 0.5f);
  const auto attention = constant_model("attn", 0.25f);
  const OperatorPredictor predictor(test_ampere(),
                                    {{"gemm", loaded(gemm)}, {"attn", loaded(attention)}});
  AttentionConfig a;
  a.q_lengths = a.kv_lengths = {64};
  a.query_heads = a.kv_heads = 8;
  a.head_dim = 128;
  const auto predictions = predictor.predict({kGemm, a, kGemm, RmsNormConfig{8, 5120}});
  EXPECT_EQ(gemm->calls, 1u);
  EXPECT_EQ(gemm->rows, 2u);
  EXPECT_EQ(attention->calls, 1u);
  EXPECT_EQ(*predictions[1].fraction_of_reference, 0.25);
  EXPECT_EQ(predictions[0].duration_us, predictions[2].duration_us);
  EXPECT_EQ(predictions[3].fraction_of_reference, std::nullopt);
  EXPECT_EQ(predictions[3].duration_us,
            analytic_duration_us(RmsNormConfig{8, 5120}, test_ampere()));
}

TEST(OperatorPredictor, AttentionModelsOfOneLayoutWin) {
  const auto both = constant_model("attn", 0.5f);
  const auto decode = constant_model("attn", 0.25f);
  const OperatorPredictor predictor(test_ampere(),
                                    {{"attn", loaded(both)}, {"attn_paged", loaded(decode)}});
  AttentionConfig a;
  a.q_lengths = a.kv_lengths = {64};
  a.query_heads = a.kv_heads = 8;
  a.head_dim = 128;
  AttentionConfig paged = a;
  paged.layout = KvLayout::paged;
  const auto predictions = predictor.predict({a, paged});
  EXPECT_EQ(*predictions[0].fraction_of_reference, 0.5);
  EXPECT_EQ(*predictions[1].fraction_of_reference, 0.25);
}

TEST(OperatorPredictor, LogRatioModelsScaleTheRooflineBound) {
  const auto model = constant_model("gemm", 0.7f);
  model->record().kind = ModelKind::log_ratio;
  model->record().features = feature_names(operator_family("gemm"), ModelKind::log_ratio);
  const OperatorPredictor predictor(test_ampere(), {{"gemm", loaded(model)}});
  const double bound_us = operator_ratios(kGemm, test_ampere()).bound_us;
  EXPECT_NEAR(predictor.predict({kGemm}).front().duration_us, bound_us * std::exp(0.7),
              1e-6 * bound_us);
}

TEST(OperatorPredictor, E08RefusesOutputsThatAreNoUtilisation) {
  const auto error = [](float output) {
    const OperatorPredictor predictor(test_ampere(),
                                      {{"gemm", loaded(constant_model("gemm", output))}});
    return error_of([&] { predictor.predict({kGemm}); });
  };
  for (const float output : {0.0f, -0.5f, 1e-20f}) {
    EXPECT_THAT(error(output), HasSubstr("utilisation 0 for gemm M=512"));
  }
  for (const float output :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(error(output), HasSubstr("model output not finite for gemm M=512"));
  }
}

TEST(OperatorPredictor, ClipsOutputsAboveTheWholeRate) {
  const auto perf = [](float output) {
    const OperatorPredictor predictor(test_ampere(),
                                      {{"gemm", loaded(constant_model("gemm", output))}});
    return *predictor.predict({kGemm}).front().fraction_of_reference;
  };
  EXPECT_EQ(perf(0.25f), 0.25);
  EXPECT_EQ(perf(2.0f), 1.0);
}

TEST(OperatorPredictor, NamesTheFamilyWithoutAModel) {
  const OperatorPredictor predictor(test_ampere(), {});
  EXPECT_THAT(error_of([&] { predictor.predict({kGemm}); }), HasSubstr("--checkpoint gemm=FILE"));
}

TEST(OperatorPredictor, FlagsTheFeatureFurthestOutOfRange) {
  const auto model = constant_model("gemm", 0.5f);
  for (const double value : model_input(kGemm, test_ampere(), ModelKind::efficiency, {}).features) {
    model->record().feature_ranges.push_back({value / 4, value * 4, value, value});
  }
  const OperatorPredictor predictor(test_ampere(), {{"gemm", loaded(model)}});
  GemmConfig larger = kGemm;
  larger.m *= 64;
  const auto predictions = predictor.predict({kGemm, larger});
  EXPECT_FALSE(predictions[0].violation.has_value());
  ASSERT_TRUE(predictions[1].violation.has_value());
  EXPECT_GT(predictions[1].violation->value, predictions[1].violation->bound);
  // 64 times the value in a range of 4 to 4: ln 16 beyond it of ln 16 in all.
  EXPECT_NEAR(predictions[1].violation->distance, 1, 0.01);
  EXPECT_THAT(describe(*predictions[1].violation), HasSubstr("training range up to"));
}

// A vocabulary of 128256 was shown as 128255.9, the bound of a model likewise.
TEST(OperatorPredictor, NotesShowTheIntegersThatWereAsked) {
  const auto model = constant_model("gemm", 0.5f);
  model->record().kind = ModelKind::log_ratio;
  model->record().features = {"log2_N"};
  const auto note = [&](std::int64_t n, double most) {
    const double bound = static_cast<float>(std::log2(most));  // as in a record
    model->record().feature_ranges = {{std::log2(64), bound, 10, 1}};
    const OperatorPredictor predictor(test_ampere(), {{"gemm", loaded(model)}});
    return describe(*predictor.predict({GemmConfig{512, n, 4096}}).front().violation);
  };
  EXPECT_THAT(note(128256, 57664), testing::StartsWith("N 128256, training range up to 57664, "));
  for (const std::int64_t n : {43001, 75968, 152064, 1000003, 16777259}) {
    EXPECT_THAT(note(n, 32767),
                testing::StartsWith("N " + std::to_string(n) + ", training range up to 32767, "));
  }
  EXPECT_THAT(describe({"ln_mean_kv", std::log(3500.5), std::log(1024), 0.5}),
              testing::StartsWith("mean_kv 3500.5, training range up to 1024, "));
  EXPECT_THAT(describe({"l_l2", -0.4629313, -0.75, 0.5}), testing::StartsWith("l_l2 -0.4629313, "));
}

TEST(OperatorPredictor, DoesNotFlagWhatIsHardlyOutOfRange) {
  const auto model = constant_model("gemm", 0.5f);
  for (const double value : model_input(kGemm, test_ampere(), ModelKind::efficiency, {}).features) {
    model->record().feature_ranges.push_back({value / 16, value / 1.001, value, value});
  }
  const OperatorPredictor predictor(test_ampere(), {{"gemm", loaded(model)}});
  EXPECT_FALSE(predictor.predict({kGemm}).front().violation.has_value());
}

// Features that are computed in several steps differ in their last bits where they mean the same.
TEST(OperatorPredictor, AFeatureThatOnlyRoundingVariesIsConstant) {
  const auto model = constant_model("gemm", 0.5f);
  for (const double value : model_input(kGemm, test_ampere(), ModelKind::efficiency, {}).features) {
    model->record().feature_ranges.push_back({value * (1 - 3e-9), value * (1 - 2e-9), value, 0});
  }
  const OperatorPredictor predictor(test_ampere(), {{"gemm", loaded(model)}});
  GemmConfig larger = kGemm;
  larger.m *= 64;
  const auto predictions = predictor.predict({kGemm, larger});
  EXPECT_FALSE(predictions[0].violation.has_value());
  ASSERT_TRUE(predictions[1].violation.has_value());
  EXPECT_EQ(predictions[1].violation->distance, 1);
}

TEST(OperatorPredictor, TellsWhenTheGpuIsNotInTheTrainingData) {
  const auto model = constant_model("gemm", 0.5f);
  model->record().hardware_rows = {{"NVIDIA H800", 10}};
  const ModelSet models{{"gemm", loaded(model)}};
  EXPECT_FALSE(OperatorPredictor(test_hopper(), models).is_unseen_gpu(kGemm));
  EXPECT_TRUE(OperatorPredictor(test_ampere(), models).is_unseen_gpu(kGemm));
  model->record().hardware_rows.clear();  // a record that does not tell
  EXPECT_FALSE(OperatorPredictor(test_ampere(), models).is_unseen_gpu(kGemm));
}

}  // namespace
}  // namespace pw
