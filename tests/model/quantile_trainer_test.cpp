#include "pw/quantile_trainer.h"

#include <cmath>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "metrics.h"
#include "pw/checkpoint.h"
#include "support/error_of.h"
#include "support/synthetic_gemm.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;

// Durations spread by up to a factor of e, the same spread whatever the shape.
Dataset noisy_data(std::int64_t shapes, std::int64_t first, ModelKind kind) {
  Dataset data = synthetic_data(shapes, first, kind);
  std::mt19937 generator(static_cast<std::uint32_t>(first + 1));
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const double factor = std::exp(static_cast<double>(generator()) / 4294967296.0);
    data.duration_us[row] *= factor;
    data.efficiency[row] /= factor;
    data.hold_out_group.push_back(data.problem[row] / 2 % 10);
  }
  data.options.hold_out_by = {"N"};
  return data;
}

double share_covered(const LabelledCoverage& coverage, const std::string& label,
                     std::size_t quantile) {
  for (const auto& [name, part] : coverage) {
    if (name == label) {
      return part.shares[quantile];
    }
  }
  ADD_FAILURE() << "no coverage of " << label;
  return -1;
}

class QuantileTrainerTest : public testing::Test {
 protected:
  static RatioOptions quick_options() {
    RatioOptions options;
    options.epochs = 15;
    options.batch_size = 64;
    options.members = 1;
    options.hidden_widths = {32};
    return options;
  }
  TrainingRun train(const Dataset& data, const QuantileOptions& quantiles,
                    const char* name = "q.pt") const {
    return run_log_ratio_quantile_training(data, quick_options(), quantiles, folder_.path() / name,
                                           {}, {});
  }
  const TemporaryFolder folder_;
};

TEST_F(QuantileTrainerTest, CoversNewRowsAsItClaims) {
  QuantileOptions quantiles;
  quantiles.quantiles = {0.8, 0.5, 0.9};
  const TrainingRun run = train(noisy_data(600, 0, ModelKind::log_ratio), quantiles);
  EXPECT_TRUE(run.saved);
  EXPECT_THAT(run.record.quantiles, testing::ElementsAre(0.5, 0.8, 0.9));
  EXPECT_EQ(run.record.output_quantile, 0.8);

  const auto model = load_checkpoint(folder_.path() / "q.pt");
  EXPECT_EQ(record_json(model->record()), record_json(run.record));
  const Dataset test = noisy_data(1000, 1000, ModelKind::log_ratio);
  const LabelledCoverage coverage = evaluate_coverage(*model, test, "test");
  ASSERT_EQ(coverage.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(share_covered(coverage, "test", i), run.record.quantiles[i], 0.05);
    EXPECT_NEAR(share_covered(run.record.coverage, "held out", i), run.record.quantiles[i], 0.03);
    EXPECT_NEAR(share_covered(run.record.coverage, "unseen N", i), run.record.quantiles[i], 0.1);
  }
  // The ceiling is a short duration: of the factors 1 to e it leaves those above e^0.2.
  const std::vector<float> inputs = model_inputs(model->record(), test, {0, 1, 2});
  const std::vector<float> all = model->evaluate_quantiles(inputs);
  const std::vector<float> output = model->evaluate(inputs);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_GE(all[3 * row], all[3 * row + 1]);
    EXPECT_GE(all[3 * row + 1], all[3 * row + 2]);
    EXPECT_EQ(output[row], all[3 * row + 1]);
  }
}

TEST_F(QuantileTrainerTest, SameSeedSameBytes) {
  const Dataset data = noisy_data(60, 0, ModelKind::log_ratio);
  train(data, {}, "a.pt");
  train(data, {}, "b.pt");
  EXPECT_TRUE(read_file(folder_.path() / "a.pt") == read_file(folder_.path() / "b.pt"));
}

TEST_F(QuantileTrainerTest, AStoppedRunContinuesToTheSameBytes) {
  const Dataset data = noisy_data(60, 0, ModelKind::log_ratio);
  train(data, {}, "whole.pt");
  RunControl control;
  control.save_state = folder_.path() / "state";
  int epochs = 0;
  control.stop = [&] { return ++epochs == 20; };  // in the second of the fits
  const auto output = folder_.path() / "parts.pt";
  const TrainingRun stopped =
      run_log_ratio_quantile_training(data, quick_options(), {}, output, {}, control);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_FALSE(stopped.saved);
  EXPECT_FALSE(std::filesystem::exists(output));
  RunControl again;
  again.resume = control.save_state;
  run_log_ratio_quantile_training(data, quick_options(), {}, output, {}, again);
  EXPECT_TRUE(read_file(folder_.path() / "whole.pt") == read_file(output));
}

TEST_F(QuantileTrainerTest, PublishedModelKeepsTheEpochOfTheSmallestTrainingLoss) {
  MlpOptions options;
  options.epochs = 60;
  options.batch_size = 64;
  options.quantile = 0.8;
  options.early_stopping_patience = 1;  // has no effect here
  const Dataset data = noisy_data(300, 0, ModelKind::efficiency);
  const TrainingRun run = run_mlp_quantile_training(data, options, folder_.path() / "p.pt", {}, {});
  ASSERT_EQ(run.curve.size(), 60u);
  std::size_t best = 0;
  for (const EpochReport& report : run.curve) {
    EXPECT_EQ(report.learning_rate, 1e-3);
    EXPECT_FALSE(report.validation_loss.has_value());
    best = report.train_loss < run.curve[best].train_loss ? static_cast<std::size_t>(report.epoch)
                                                          : best;
  }
  const std::map<std::string, std::string> training(run.record.training.begin(),
                                                    run.record.training.end());
  EXPECT_EQ(training.at("best_epoch"), std::to_string(best));
  EXPECT_EQ(training.at("rows_training"), "600");
  EXPECT_EQ(training.count("scheduler_patience"), 0u);
  EXPECT_THAT(run.record.quantiles, testing::ElementsAre(0.8));
  EXPECT_GT(share_covered(run.record.coverage, "training", 0), 0.6);
  EXPECT_EQ(evaluate_coverage(*load_checkpoint(folder_.path() / "p.pt"), data, "training")[0]
                .second.shares,
            run.record.coverage[0].second.shares);
}

TEST_F(QuantileTrainerTest, RefusesQuantilesThatAreNone) {
  const Dataset data = noisy_data(60, 0, ModelKind::log_ratio);
  const std::pair<std::vector<double>, const char*> cases[] = {
      {{}, "at least one"}, {{0.8, 0.8}, "each value once"}, {{1}, "between"}, {{0}, "between"}};
  for (const auto& [values, message] : cases) {
    QuantileOptions quantiles;
    quantiles.quantiles = values;
    EXPECT_THAT(error_of([&] { train(data, quantiles); }), HasSubstr(message));
  }
  QuantileOptions fine;
  fine.quantiles = {0.995};
  EXPECT_THAT(error_of([&] { train(data, fine); }), HasSubstr("cannot be calibrated on 48 rows"));
}

}  // namespace
}  // namespace pw
