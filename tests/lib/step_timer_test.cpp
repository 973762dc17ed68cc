// One step, with prompts and decodes apart or side by side.

#include "pw/step_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/step_maker.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/fake_model.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::HasSubstr;

EngineProfile engine() {
  EngineProfile profile;
  profile.name = "demo";
  profile.host_us_per_iteration = 100;
  return profile;
}

class StepTimerTest : public testing::Test {
 protected:
  StepTimerTest() : operators_({OperatorPredictor(test_ampere(), models())}) {}

  static ModelSet models() {
    return {{"gemm", loaded(constant_model("gemm", 0.4F))},
            {"attn", loaded(constant_model("attn", 0.3F))}};
  }
  double us_of(const OperatorConfig& config) const {
    return operators_.gpus().front().predict({config}).front().duration_us;
  }

  const ModelConfig model_ = demo_model();
  const OperatorTimer operators_;
  const CollectiveCatalog collectives_;
  StepTimer timer_{operators_, collectives_, {model_, 1, 1, engine()}};
  StepMaker maker_{model_, {}};
};

double count_of(const StepTime& time, const std::string& name) {
  double calls = 0;
  for (const OperatorTime& line : time.operators) {
    if (line.name == name) calls += static_cast<double>(line.count);
  }
  return calls;
}

// A chunk of 100 tokens that ends at 300 and a prompt of 50 beside three decodes.
TEST_F(StepTimerTest, AMixedStepIsTheSumOfWhatItRuns) {
  const Step step = maker_.make({{100, 50}, {300, 50}}, {{1, 1, 1}, {200, 300, 400}}, 1);
  EXPECT_EQ(step.phase, Phase::prefill);
  EXPECT_EQ(num_tokens(step.batch), 153);
  ASSERT_EQ(step.attention.size(), 2u);
  const StepTime time = timer_.time(step);
  double sum = 0, engine_us = 0;
  for_each_op(step,
              [&](const Op& op) { sum += us_of(op.problem) * static_cast<double>(op.calls); });
  for (const EngineOperator& extra : engine_operators(model_, step, test_ampere(), engine())) {
    engine_us += extra.single_us * static_cast<double>(extra.count);
  }
  EXPECT_NEAR(time.total_us, sum + engine_us, 1e-9 * time.total_us);
  // GEMMs see all tokens at once; the new keys of a layer are stored once, its decodes merged.
  EXPECT_EQ(std::get<GemmConfig>(step.body->before_attention[0].problem).m, 153);
  EXPECT_EQ(count_of(time, "attention"), 2 * 4);
  EXPECT_EQ(count_of(time, "rope"), 4);
  EXPECT_EQ(count_of(time, "kv_store"), 4);
  EXPECT_EQ(count_of(time, "kv_merge"), 4);
  EXPECT_EQ(count_of(time, "host"), 1);
}

// A body that two kinds of steps share is timed for each: a merge belongs to decodes alone.
TEST_F(StepTimerTest, StepsOfAsManyTokensDifferInWhatAttentionNeeds) {
  const Step decode = maker_.make({}, {{1, 1}, {200, 300}}, 1);
  const Step prompt = maker_.make({{1, 1}, {1, 1}}, {}, 2);
  EXPECT_EQ(decode.body, prompt.body);
  EXPECT_EQ(count_of(timer_.time(decode), "kv_merge"), 4);
  EXPECT_EQ(count_of(timer_.time(prompt), "kv_merge"), 0);
}

TEST_F(StepTimerTest, WhatIsKnownIsNotPredictedAgain) {
  const std::vector<Step> steps = {maker_.make({{100}, {100}}, {}, 1),
                                   maker_.make({}, {{1}, {101}}, 2),
                                   maker_.make({}, {{1}, {102}}, 3)};
  const TimedSteps first = timer_.time(steps);
  const std::uint64_t predictions = operators_.operator_predictions();
  StepTimer other(operators_, collectives_, {model_, 1, 1, engine()});
  const TimedSteps again = other.time(steps);
  EXPECT_EQ(operators_.operator_predictions(), predictions);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(again.total_us(0, i), first.total_us(0, i));
    EXPECT_EQ(first.time(0, i).total_us, first.total_us(0, i));
    EXPECT_EQ(timer_.time(steps[i]).total_us, first.total_us(0, i)) << "alone";
  }
}

TEST_F(StepTimerTest, AStepWithoutAModelIsThatGpusProblem) {
  const OperatorTimer none({OperatorPredictor(test_ampere(), {})});
  StepTimer timer(none, collectives_, {model_, 1, 1, std::nullopt});
  const std::vector<Step> steps = {maker_.make({{10}, {10}}, {}, 1)};
  EXPECT_THAT(timer.time(steps).problem(0), HasSubstr("no checkpoint for operator 'gemm'"));
  EXPECT_THAT(error_of([&] { timer.time(steps[0]); }), HasSubstr("no checkpoint"));
}

}  // namespace
}  // namespace pw
