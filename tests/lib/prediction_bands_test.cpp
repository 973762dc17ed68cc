#include "prediction_bands.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "support/demo_model.h"
#include "support/fake_model.h"
#include "support/steps.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ErrorBand band(double low, double middle, double high) {
  return {100, std::log(low), std::log(middle), std::log(high), std::nullopt};
}

TEST(BandSum, ErrorsOfOneSourceAdd) {
  BandSum sum;
  sum.add(Phase::prefill, "gemm", band(0.9, 1, 1.2), 100);
  sum.add(Phase::prefill, "gemm", band(0.9, 1, 1.2), 100);
  sum.add(Phase::decode, "gemm", band(0.9, 1, 1.2), 400);
  const PredictionBands bands = sum.bands(4);
  EXPECT_NEAR(bands.prefill->p10_us, 180, 1e-9);
  EXPECT_NEAR(bands.prefill->p90_us, 240, 1e-9);
  EXPECT_NEAR(bands.decode_step->p90_us, 120, 1e-9);
  EXPECT_NEAR(bands.total->p10_us, 540, 1e-9);
  EXPECT_NEAR(bands.total->p90_us, 720, 1e-9);
}

TEST(BandSum, ErrorsOfDifferentSourcesAddInQuadratureAroundTheirMedians) {
  BandSum sum;
  sum.add(Phase::prefill, "gemm", band(0.97, 1, 1.3), 100);
  sum.add(Phase::prefill, "attn", band(1.06, 1.1, 1.5), 100);
  const PredictionBands bands = sum.bands(0);
  EXPECT_NEAR(bands.prefill->p10_us, 210 - 5, 1e-9);   // 3 and 4 below the medians
  EXPECT_NEAR(bands.prefill->p90_us, 210 + 50, 1e-9);  // 30 and 40 above
  EXPECT_FALSE(bands.decode_step);
}

TEST(BandSum, WhatHasNoErrorsCountsAsPredictedUpToAQuarter) {
  BandSum sum;
  sum.add(Phase::prefill, "gemm", band(0.9, 1, 1.2), 300);
  sum.add(Phase::prefill, "rmsnorm", std::nullopt, 100);
  sum.add(Phase::decode, "gemm", band(0.9, 1, 1.2), 100);
  sum.add(Phase::decode, "host", std::nullopt, 50);
  const PredictionBands bands = sum.bands(1);
  EXPECT_NEAR(bands.prefill->p10_us, 370, 1e-9);
  EXPECT_FALSE(bands.decode_step);
  EXPECT_FALSE(bands.total) << "150 of 550";
  EXPECT_THAT(bands.without_errors, ElementsAre("rmsnorm", "host"));
  EXPECT_NEAR(bands.total_share_without_errors, 150.0 / 550, 1e-12);
  EXPECT_THAT(describe(bands).sentence,
              AllOf(HasSubstr("held-out errors of gemm; 27.3 % of the total time has none and "
                              "counts as predicted (rmsnorm, host)"),
                    HasSubstr("no p10-p90 of decode, 33.3 %"), HasSubstr("no p10-p90 of the total"),
                    Not(HasSubstr("of prefill"))));
}

class PredictedBands : public testing::Test {
 protected:
  PredictedBands() {
    for (const auto& model : {gemm_, attention_}) {
      model->record().hardware_rows = {{"NVIDIA A100-SXM4-80GB", 100}};
      model->record().known_gpu_errors = HeldOutErrors{"problems", band(0.8, 1, 1.25), {}};
    }
  }
  Prediction predict(const HardwareSpec& hardware) {
    const Workload workload = generate_workload(demo_model(), uniform_trace(3, 4000, 3), {});
    const OperatorPredictor predictor(hardware,
                                      {{"gemm", loaded(gemm_)}, {"attn", loaded(attention_)}});
    return predict_workload(workload, predictor, {});
  }

  std::shared_ptr<FakeModel> gemm_ = constant_model("gemm", 0.1f);
  std::shared_ptr<FakeModel> attention_ = constant_model("attn", 0.1f);
};

TEST_F(PredictedBands, AreInTextAndJson) {
  const Prediction p = predict(test_ampere());
  ASSERT_TRUE(p.bands && p.bands->total);
  EXPECT_LT(p.bands->total->p10_us, p.summary.total_us);
  EXPECT_GT(p.bands->total->p90_us, p.summary.total_us);
  EXPECT_THAT(prediction_text(p), HasSubstr("output tokens/s   p10-p90 "));
  const Json bands = Json::parse(prediction_json(p, PredictionDetail::summary)).at("bands");
  EXPECT_NEAR(bands.at("total_ms").at("p90"), p.bands->total->p90_us / 1000, 1e-6);
  EXPECT_EQ(bands.at("sources")[0].at("name"), "gemm");
  EXPECT_EQ(bands.at("sources")[0].at("p10_percent"), -20);
  EXPECT_EQ(bands.at("sources")[0].at("p90_percent"), 25);
  EXPECT_EQ(prediction_json(p, PredictionDetail::published).find("bands"), std::string::npos);
}

TEST_F(PredictedBands, AreAbsentWhereNothingIsKnown) {
  const Prediction p = predict(test_hopper());
  ASSERT_TRUE(p.bands);
  EXPECT_FALSE(p.bands->prefill || p.bands->decode_step || p.bands->total);
  EXPECT_THAT(p.bands->without_errors, ElementsAre("gemm", "attn", "rmsnorm", "siluandmul"));
  EXPECT_THAT(sentences(p.facts),
              testing::Contains(HasSubstr("no p10-p90: no held-out errors are known")));
  EXPECT_THAT(prediction_text(p), Not(HasSubstr("tokens/s   p10-p90")));
  EXPECT_TRUE(Json::parse(prediction_json(p, PredictionDetail::summary))
                  .at("bands")
                  .at("total_ms")
                  .is_null());
}

}  // namespace
}  // namespace pw
