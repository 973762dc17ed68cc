#include "pw/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

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

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

MlpOptions quick_options(std::int64_t epochs) {
  MlpOptions options;
  options.epochs = epochs;
  options.batch_size = 64;
  return options;
}

std::map<std::string, std::string> training_of(const ModelRecord& record) {
  return {record.training.begin(), record.training.end()};
}

class TrainerTest : public testing::Test {
 protected:
  ModelRecord train(const Dataset& data, const MlpOptions& options, const char* name = "m.pt",
                    const Dataset* test = nullptr) {
    reports_.clear();
    return train_mlp(data, test, options, folder_.path() / name,
                     [this](const EpochReport& report) { reports_.push_back(report); });
  }
  std::string train_error(const Dataset& data, const MlpOptions& options) {
    const std::string error = error_of([&] { train(data, options); });
    EXPECT_FALSE(fs::exists(folder_.path() / "m.pt"));
    return error;
  }
  const TemporaryFolder folder_;
  std::vector<EpochReport> reports_;
};

TEST_F(TrainerTest, Learns) {
  const Dataset test = synthetic_data(100, 1000);
  const ModelRecord record = train(synthetic_data(400), quick_options(40), "m.pt", &test);
  ASSERT_EQ(reports_.size(), 40u);
  EXPECT_GT(reports_.front().validation_loss.value(), 0.3);
  ASSERT_EQ(record.metrics.size(), 6u);
  EXPECT_EQ(record.metrics[0].first, "validation");
  EXPECT_EQ(record.metrics[0].second.rows, 160);
  EXPECT_LT(record.metrics[0].second.mean_relative_error, 0.1);
  EXPECT_EQ(record.metrics[3].first, "test");
  EXPECT_EQ(record.metrics[3].second.rows, 200);
  EXPECT_LT(record.metrics[3].second.mean_relative_error, 0.1);
  EXPECT_EQ(record.metrics[4].first, "test: NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(record.metrics[5].second.rows, 100);

  const auto model = load_checkpoint(folder_.path() / "m.pt");
  EXPECT_EQ(record_json(model->record()), record_json(record));
  const LabelledMetrics again = evaluate_model(*model, test, "test");
  EXPECT_DOUBLE_EQ(again[0].second.mean_relative_error,
                   record.metrics[3].second.mean_relative_error);
}

TEST_F(TrainerTest, KeepsTheEpochOfTheSmallestValidationLoss) {
  const Dataset data = synthetic_data(60);
  const ModelRecord record = train(data, quick_options(30));
  const auto best = std::min_element(
      reports_.begin(), reports_.end(),
      [](const auto& a, const auto& b) { return a.validation_loss < b.validation_loss; });
  EXPECT_EQ(training_of(record).at("best_epoch"), std::to_string(best->epoch));
  // One validation batch, so that the loss is the mean relative error up to the offsets in both.
  EXPECT_NEAR(record.metrics[0].second.mean_relative_error, best->validation_loss.value(), 1e-5);
}

TEST_F(TrainerTest, StopsWhenTheValidationLossStaysAboveItsBest) {
  MlpOptions options = quick_options(500);
  options.early_stopping_patience = 3;
  const ModelRecord record = train(synthetic_data(60), options);
  ASSERT_LT(reports_.size(), 500u);
  const std::int64_t best = std::stoll(training_of(record).at("best_epoch"));
  EXPECT_EQ(reports_.back().epoch, best + 3);
  EXPECT_EQ(training_of(record).at("epochs_run"), std::to_string(best + 4));
}

TEST_F(TrainerTest, LowersTheLearningRateOnAPlateau) {
  MlpOptions options = quick_options(60);
  options.scheduler_patience = 0;
  options.scheduler_factor = 0.5;
  options.min_learning_rate = 0;
  train(synthetic_data(30), options);
  EXPECT_EQ(reports_.front().learning_rate, 1e-3);
  for (std::size_t i = 0; i + 1 < reports_.size(); ++i) {
    const double ratio = reports_[i + 1].learning_rate / reports_[i].learning_rate;
    EXPECT_TRUE(ratio == 1 || ratio == 0.5) << ratio;
  }
  EXPECT_LT(reports_.back().learning_rate, 1e-3);
}

TEST_F(TrainerTest, SameSeedSameBytesWhateverTheFileName) {
  const Dataset data = synthetic_data(40);
  train(data, quick_options(3), "first.pt");
  train(data, quick_options(3), "another name.bin");
  const std::string first = read_file(folder_.path() / "first.pt");
  EXPECT_TRUE(first == read_file(folder_.path() / "another name.bin"));
  MlpOptions other = quick_options(3);
  other.seed = 43;
  train(data, other, "seed.pt");
  EXPECT_FALSE(first == read_file(folder_.path() / "seed.pt"));
}

TEST_F(TrainerTest, RecordsWhatTheModelWasFittedOn) {
  Dataset data = synthetic_data(40);
  data.files[0].sha256 = "00ff";
  data.options.filters = {parse_row_filter("source=a|b")};
  data.dropped["unknown GPU 'X'"].rows = 2;
  const ModelRecord record = train(data, quick_options(2));
  EXPECT_EQ(record.operator_name, "gemm");
  EXPECT_EQ(record.features.size(), 11u);
  EXPECT_EQ(record.analysis.gemm_tile, GemmTilePolicy::fixed_128);
  EXPECT_EQ(record.data[0].sha256, "00ff");
  EXPECT_EQ(record.hardware_rows[1], (std::pair<std::string, std::int64_t>{"NVIDIA H800", 40}));
  double sum = 0, smallest = data.features[0];
  for (std::size_t i = 0; i < data.features.size(); i += data.width()) {
    sum += data.features[i];
    smallest = std::min(smallest, data.features[i]);
  }
  EXPECT_EQ(record.feature_ranges[0].min, smallest);
  EXPECT_DOUBLE_EQ(record.feature_ranges[0].mean, sum / 80);
  const auto training = training_of(record);
  EXPECT_EQ(training.at("seed"), "42");
  EXPECT_EQ(training.at("threads"), "1");
  EXPECT_EQ(training.at("rows_training"), "64");
  EXPECT_EQ(training.at("rows_validation"), "16");
  EXPECT_EQ(training.at("row_filters"), "source=a|b");
  EXPECT_EQ(training.at("rows_dropped"), "2 unknown GPU 'X'");
  EXPECT_EQ(training.count("libtorch"), 1u);
}

TEST_F(TrainerTest, WeighsRowsInBothLosses) {
  Dataset data = synthetic_data(40);
  train(data, quick_options(4), "plain.pt");
  const std::string plain = read_file(folder_.path() / "plain.pt");
  data.weight.assign(data.rows(), 2.5);
  train(data, quick_options(4), "equal.pt");
  EXPECT_TRUE(plain == read_file(folder_.path() / "equal.pt"));
  const double validation_loss = reports_[0].validation_loss.value();
  // Weights count relative to their mean: one GPU alone in effect.
  for (std::size_t row = 0; row < data.rows(); ++row) {
    data.weight[row] = data.hardware[row] == 0 ? 1000 : 1;
  }
  data.options.weight_column = "runs";
  const ModelRecord record = train(data, quick_options(4), "other.pt");
  EXPECT_NE(reports_[0].validation_loss.value(), validation_loss);
  EXPECT_EQ(training_of(record).at("weight_column"), "runs");
  const double best_loss = std::stod(training_of(record).at("validation_loss"));
  EXPECT_NEAR(best_loss / record.metrics[1].second.mean_relative_error, 1, 0.01);
  EXPECT_GT(std::abs(best_loss / record.metrics[2].second.mean_relative_error - 1), 0.1);
}

TEST_F(TrainerTest, LogRatioFollowsTheHeavierOfContradictingRows) {
  const Dataset once = synthetic_data(100, 0, ModelKind::log_ratio);
  double bias[2] = {};
  for (const bool slow_is_heavy : {false, true}) {
    Dataset data = once;
    data.features.insert(data.features.end(), once.features.begin(), once.features.end());
    for (std::size_t row = 0; row < once.rows(); ++row) {
      data.reference_us.push_back(once.reference_us[row]);
      data.duration_us.push_back(2 * once.duration_us[row]);
      data.efficiency.push_back(once.efficiency[row] / 2);
      data.hardware.push_back(once.hardware[row]);
      data.problem.push_back(once.problem[row]);
      data.file.push_back(0);
      data.line.push_back(data.rows() + 1);
    }
    data.weight.assign(once.rows(), slow_is_heavy ? 1 : 9);
    data.weight.resize(data.rows(), slow_is_heavy ? 9 : 1);
    RatioOptions options;
    options.members = 1;
    options.batch_size = 32;
    options.refit = false;
    const ModelRecord record =
        train_log_ratio(data, &once, options, folder_.path() / "m.pt", nullptr);
    bias[slow_is_heavy ? 1 : 0] = record.metrics[3].second.duration_bias.value();
  }
  EXPECT_NEAR(bias[0], 0, 0.2);
  EXPECT_NEAR(bias[1], 1, 0.3);
}

// Fits without groups and GPUs tell errors and leave the model as it is.
TEST_F(TrainerTest, TellsErrorsOfHeldOutGroupsAndGpus) {
  Dataset data = synthetic_data(150, 0, ModelKind::log_ratio);
  RatioOptions options;
  options.epochs = 6;
  options.members = 1;
  options.batch_size = 32;
  options.hidden_widths = {16};
  const auto run = [&](const char* name) {
    const ModelRecord record =
        train_log_ratio(data, nullptr, options, folder_.path() / name, nullptr);
    const std::vector<std::int64_t> rows{0, 1, 2, 3};
    const auto model = load_checkpoint(folder_.path() / name);
    return std::pair(record, predicted_efficiency(*model, data, rows));
  };
  const auto [plain, plain_outputs] = run("plain.pt");
  EXPECT_EQ(plain.known_gpu_errors->held_out, "validation rows");
  EXPECT_GT(plain.known_gpu_errors->all.coverage.value(), 0.5);
  EXPECT_FALSE(plain.new_gpu_errors);

  for (std::size_t row = 0; row < data.rows(); ++row) {
    data.hold_out_group.push_back(data.problem[row] / 2 % 12);
  }
  data.options.hold_out_by = {"N", "K"};
  options.hold_out_folds = 3;
  options.leave_one_gpu_out = true;
  const auto [record, outputs] = run("held_out.pt");
  EXPECT_EQ(outputs, plain_outputs);
  EXPECT_EQ(training_of(record).at("hold_out_folds"), "3");
  EXPECT_EQ(record.known_gpu_errors->held_out,
            "groups of equal N, K, in 3 folds, one network each");
  EXPECT_EQ(record.known_gpu_errors->all.rows, 300);
  EXPECT_EQ(record.known_gpu_errors->of_gpu.size(), 2u);
  EXPECT_EQ(record.new_gpu_errors->all.rows, 300);
  EXPECT_TRUE(record.new_gpu_errors->all.coverage.has_value());
}

TEST_F(TrainerTest, AllowsALastBatchOfOneRow) {
  MlpOptions options = quick_options(2);
  options.published_split = true;
  options.batch_size = 63;
  const ModelRecord record = train(synthetic_data(40), options);
  EXPECT_EQ(training_of(record).at("rows_training"), "64");
  EXPECT_EQ(training_of(record).at("split"), "published");
}

TEST_F(TrainerTest, NamesTheRowWhoseDataIsNotFinite) {
  for (const bool in_target : {false, true}) {
    Dataset data = synthetic_data(40);
    (in_target ? data.efficiency[17] : data.features[17 * data.width() + 4]) =
        std::numeric_limits<double>::infinity();
    EXPECT_THAT(train_error(data, quick_options(2)),
                AllOf(HasSubstr("synthetic.csv:19"), HasSubstr("remove the row")));
  }
}

TEST_F(TrainerTest, StopsWhenTheTrainingDiverges) {
  MlpOptions options = quick_options(50);
  options.learning_rate = 1e30;
  EXPECT_THAT(train_error(synthetic_data(40), options),
              AllOf(HasSubstr("synthetic.csv:"), HasSubstr("smaller learning rate")));
}

TEST_F(TrainerTest, NeedsTwoProblems) {
  Dataset data = synthetic_data(40);
  std::fill(data.problem.begin(), data.problem.end(), 7);
  EXPECT_THAT(train_error(data, quick_options(2)), HasSubstr("more different problems"));
}

TEST_F(TrainerTest, RefusesOptionsWithoutMeaning) {
  const std::pair<void (*)(MlpOptions&), const char*> cases[] = {
      {[](MlpOptions& o) { o.epochs = 0; }, "epochs is 0, expected at least 1"},
      {[](MlpOptions& o) { o.batch_size = 1; }, "batch_size is 1, expected at least 2"},
      {[](MlpOptions& o) { o.learning_rate = 0; }, "learning_rate is 0.0"},
      {[](MlpOptions& o) { o.learning_rate = std::nan(""); }, "learning_rate is nan"},
      {[](MlpOptions& o) { o.dropout = 1; }, "dropout is 1.0"},
      {[](MlpOptions& o) { o.validation_fraction = 0; }, "validation_fraction is 0.0"},
      {[](MlpOptions& o) { o.seed = -1; }, "seed is -1"},
      {[](MlpOptions& o) { o.threads = 0; }, "threads is 0"},
  };
  const Dataset data = synthetic_data(4);
  for (const auto& [change, message] : cases) {
    MlpOptions options = quick_options(2);
    change(options);
    EXPECT_THAT(train_error(data, options), HasSubstr(message));
  }
}

TEST_F(TrainerTest, EvaluatesOnRowsOfTheSameOperatorOnly) {
  Dataset data = synthetic_data(20);
  train(data, quick_options(2));
  const auto model = load_checkpoint(folder_.path() / "m.pt");
  data.family = &operator_family("moe");
  EXPECT_THAT(error_of([&] { evaluate_model(*model, data, "test"); }),
              HasSubstr("a model of gemm (efficiency) cannot be evaluated on rows of moe"));
}

}  // namespace
}  // namespace pw
