#include "model/quantile_net.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include "model/pinball.h"

namespace pw {
namespace {

TEST(Pinball, WeighsErrorsByTheirSide) {
  const torch::Tensor loss = pinball(torch::tensor({1.0f, 1.0f, 1.0f}),
                                     torch::tensor({3.0f, 0.0f, 1.0f}), torch::tensor(0.8f));
  EXPECT_TRUE(torch::allclose(loss, torch::tensor({1.6f, 0.2f, 0.0f})));
}

TEST(Pinball, TwiceTheMedianLossIsTheAbsoluteError) {
  const torch::Tensor predicted = torch::randn({100}), targets = torch::randn({100});
  EXPECT_TRUE(torch::equal(2 * pinball(predicted, targets, torch::tensor(0.5f)),
                           (targets - predicted).abs()));
}

TEST(Pinball, IsSmallestAtTheQuantile) {
  const torch::Tensor targets = torch::arange(1.0f, 101.0f);
  const torch::Tensor levels = torch::tensor({0.1f, 0.5f, 0.8f});
  const torch::Tensor candidates = torch::arange(0.5f, 100.0f);  // between two targets each
  const torch::Tensor losses =
      pinball(candidates.view({-1, 1, 1}), targets.view({1, -1, 1}), levels).mean(1);
  EXPECT_TRUE(torch::equal(candidates.index_select(0, losses.argmin(0)),
                           torch::tensor({10.5f, 50.5f, 80.5f})));
}

RatioScaling plain_scaling(std::int64_t features) {
  return {torch::full({features}, -3.0f),
          torch::full({features}, 3.0f),
          torch::zeros({features}),
          torch::ones({features}),
          -50,
          50};
}

std::vector<RatioNet> members(std::int64_t features, std::int64_t outputs) {
  torch::manual_seed(7);
  std::vector<RatioNet> nets;
  for (int i = 0; i < 2; ++i) {
    nets.emplace_back(features, std::vector<std::int64_t>{16}, outputs);
    nets.back()->set_output_levels({1.0, 0.25, 0.125});
  }
  return nets;
}

torch::Tensor run(torch::jit::Module& script, const char* method, const torch::Tensor& features) {
  return script.get_method(method)({features}).toTensor();
}

TEST(RatioNet, StartsAtItsLevels) {
  RatioNet net = members(4, 3)[0];
  for (auto& parameter : net->named_parameters()) {
    if (parameter.key() == "linear1.weight") {
      const torch::NoGradGuard no_grad;
      parameter.value().zero_();
    }
  }
  const torch::Tensor levels = torch::tensor({1.0f, 0.25f, 0.125f}).expand({5, 3});
  EXPECT_TRUE(torch::allclose(net->forward(torch::randn({5, 4})), levels));
}

// Wild inputs and shifts that by themselves would put the last output above the first.
TEST(QuantileScript, OutputsNeverCross) {
  std::vector<RatioNet> nets = members(4, 3);
  QuantileCalibration calibration;
  calibration.shifts = torch::tensor({{0.0f, 1.0f, 2.0f}});
  torch::jit::Module script = quantile_script(nets, plain_scaling(4), calibration, 1);
  const torch::Tensor features = 3 * torch::randn({1000, 4});
  const torch::Tensor y = run(script, "quantiles", features);
  ASSERT_EQ(y.sizes(), (torch::IntArrayRef{1000, 3}));
  EXPECT_TRUE((y.slice(1, 1) <= y.slice(1, 0, 2)).all().item<bool>());
  EXPECT_TRUE(torch::equal(run(script, "forward", features), y.select(1, 1)));
  const torch::Tensor raw = nets[0]->forward(features.clamp(-3, 3));
  EXPECT_TRUE((raw.slice(1, 1) < raw.slice(1, 0, 2)).all().item<bool>());
}

TEST(QuantileScript, ShiftsEachGpuByItsOwnFeatures) {
  const auto nets = members(4, 3);
  QuantileCalibration calibration;
  calibration.columns = {3};
  calibration.keys = torch::tensor({{0.5f}, {1.5f}});
  calibration.shifts = torch::tensor({{1.0f, 1.0f, 1.0f}, {2.0f, 2.0f, 2.0f}, {0.0f, 0.0f, 0.0f}});
  torch::jit::Module script = quantile_script(nets, plain_scaling(4), calibration, 0);
  torch::Tensor features = torch::randn({3, 4});
  features.select(1, 3).copy_(torch::tensor({0.5f, 1.5f, 0.75f}));
  const torch::Tensor unshifted = run(script, "ensemble_mean", features);
  EXPECT_TRUE(torch::allclose(run(script, "quantiles", features) - unshifted,
                              torch::tensor({{1.0f}, {2.0f}, {0.0f}}).expand({3, 3}), 1e-4, 1e-5));
}

TEST(Conformal, ShiftCoversTheAskedShareOfNewRows) {
  // 9 residuals 1..9: the shift for 0.8 is the floor(10 * 0.2) = 2nd smallest.
  const torch::Tensor targets =
      torch::tensor({5.0f, 1.0f, 9.0f, 3.0f, 7.0f, 2.0f, 8.0f, 4.0f, 6.0f});
  EXPECT_EQ(conformal_shifts(torch::zeros({9, 1}), targets, {0.8})[0].item<float>(), 2);
  EXPECT_EQ(conformal_shifts(torch::zeros({9, 1}), targets, {0.5})[0].item<float>(), 5);
  EXPECT_EQ(conformal_shifts(torch::ones({9, 1}), targets, {0.9})[0].item<float>(), 0);
  EXPECT_EQ(calibration_rows_needed({0.5, 0.9}), 9);
  EXPECT_EQ(calibration_rows_needed({0.95}), 19);
}

TEST(Conformal, LaterOutputsMakeUpForWhatEarlierOnesCover) {
  // Two outputs that rank the rows in opposite order: the lower of the two covers each row that
  // either covers, and the second shift must leave room for that.
  torch::manual_seed(3);
  const torch::Tensor targets = torch::randn({4000});
  const torch::Tensor predicted = torch::stack({torch::randn({4000}), torch::randn({4000})}, 1);
  const torch::Tensor shifts = conformal_shifts(predicted, targets, {0.5, 0.8});
  const torch::Tensor lowest = std::get<0>((predicted + shifts).cummin(1));
  const torch::Tensor covered = (targets.unsqueeze(1) >= lowest).to(torch::kFloat32).mean(0);
  EXPECT_NEAR(covered[0].item<double>(), 0.5, 1e-3);
  EXPECT_NEAR(covered[1].item<double>(), 0.8, 1e-3);
}

TEST(Conformal, CalibratesGpusThatFeaturesTellApart) {
  // GPUs 0 and 1 have the same numbers (column 1), GPU 2 another, GPU 3 too few rows of its own.
  const torch::Tensor gpus = torch::cat({torch::zeros({100}), torch::ones({100}),
                                         torch::full({100}, 2), torch::full({3}, 3)})
                                 .to(torch::kInt64);
  torch::Tensor features = torch::rand({303, 2});
  const torch::Tensor value_of_gpu = torch::tensor({1.0f, 1.0f, 4.0f, 9.0f});
  features.select(1, 1).copy_(value_of_gpu.index_select(0, gpus));
  const torch::Tensor targets = torch::where(gpus == 2, torch::ones({303}), torch::zeros({303}));
  const QuantileCalibration calibration =
      calibrate(features, torch::zeros({303, 1}), targets, gpus, {0.8});
  EXPECT_EQ(calibration.columns, (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(torch::equal(calibration.keys, torch::tensor({{1.0f}, {4.0f}})));
  EXPECT_TRUE(torch::equal(calibration.shifts, torch::tensor({{0.0f}, {1.0f}, {0.0f}})));

  const QuantileCalibration common =
      calibrate(torch::rand({303, 2}), torch::zeros({303, 1}), targets, gpus, {0.8});
  EXPECT_TRUE(common.columns.empty());
  EXPECT_EQ(common.shifts.sizes(), (torch::IntArrayRef{1, 1}));
}

}  // namespace
}  // namespace pw
