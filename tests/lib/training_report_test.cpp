#include "pw/training_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "metrics.h"
#include "pw/data_paths.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.push_back(key);
  }
  return keys;
}

// Two files with different columns, and a run whose predictions are given factors of the truth.
class TrainingReportTest : public testing::Test {
 protected:
  TrainingReportTest()
      : paths_{folder_.file("a.csv",
                            "M,N,K,avg_duration,hardware,note\n16,2048,2048,8.3,A100,\"x, y\"\n\n"
                            "64,2048,2048,9.5,H100,\n"),
               folder_.file("b.csv", "run,M,N,K,avg_duration,hardware\n7,128,2048,2048,12,A100\n")},
        data_(read_dataset(paths_, operator_family("gemm"),
                           HardwareCatalog::read(find_data_folder("hardware", std::nullopt)), {})) {
    run_.record.operator_name = "gemm";
    run_.record.features = data_.feature_names;
    run_.record.feature_ranges.resize(data_.width());
    run_.network = {{256, 128, 64}, 1, 0.1, 45185};
    run_.curve.resize(2);
    run_.curve[0].train_loss = 0.5;
    run_.curve[0].validation_loss = 0.25;
    run_.curve[1].epoch = 1;
    run_.curve[1].learning_rate = 1e-3;
  }

  // overall_perf of some rows times a factor for each.
  std::vector<float> predictions(const std::vector<std::int64_t>& rows,
                                 const std::vector<double>& factors) const {
    std::vector<float> predicted;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      predicted.push_back(
          static_cast<float>(factors[i] * data_.efficiency[static_cast<std::size_t>(rows[i])]));
    }
    return predicted;
  }
  fs::path write(const Dataset* test) const {
    const fs::path report = folder_.path() / "report";
    write_training_report(report, run_, data_, test, {paths_, paths_, "2026-01-02T03:04:05"});
    return report;
  }

  const TemporaryFolder folder_;
  const std::vector<fs::path> paths_;
  const Dataset data_;
  TrainingRun run_;
};

TEST_F(TrainingReportTest, WorstCasesOfTheTestDataKeepAllColumns) {
  run_.test_predictions = predictions({0, 1, 2}, {1.25, 1, 2});
  const CsvTable table = CsvTable::read(write(&data_) / "worst_cases_top100.csv");
  EXPECT_THAT(table.header(), ElementsAre("M", "N", "K", "avg_duration", "hardware", "note", "run",
                                          "predicted", "rel_error"));
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.cell(0, 0), "128");
  EXPECT_EQ(table.cell(0, table.column("run")), "7");
  EXPECT_EQ(table.cell(0, table.column("note")), "");
  EXPECT_EQ(table.cell(1, 0), "16");
  EXPECT_EQ(table.cell(1, table.column("note")), "x, y");
  EXPECT_EQ(table.cell(2, 0), "64");
  const CsvRow worst(table, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(worst.number("predicted")), run_.test_predictions[2]);
  EXPECT_NEAR(worst.number("rel_error"), 1, 1e-6);
}

TEST_F(TrainingReportTest, WithoutTestDataTheWorstValidationRows) {
  run_.validation_rows = {2, 1};
  run_.validation_predictions = predictions(run_.validation_rows, {1.5, 0.25});
  const CsvTable table = CsvTable::read(write(nullptr) / "worst_cases_top100.csv");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.cell(0, table.column("M")), "64");
  EXPECT_NEAR(CsvRow(table, 0).number("rel_error"), 0.75, 1e-6);
  EXPECT_NEAR(CsvRow(table, 1).number("rel_error"), 0.5, 1e-6);
}

TEST_F(TrainingReportTest, TellsWhenAFileChangedMeanwhile) {
  run_.test_predictions = predictions({0, 1, 2}, {1.25, 1, 2});
  write_file_atomic(paths_[0], "M,N,K,avg_duration,hardware,note\n16,2048,2048,8.3,A100,\n");
  EXPECT_THAT(error_of([&] { write(&data_); }), HasSubstr("a.csv: line 4 is gone"));
}

TEST_F(TrainingReportTest, LossCurveHasOneLinePerEpoch) {
  run_.test_predictions = predictions({0, 1, 2}, {1, 1, 1});
  EXPECT_EQ(read_file(write(&data_) / "loss_curve.csv"),
            "epoch,train_loss,validation_loss,learning_rate,seconds\n"
            "0,0.5,0.25,0.0,0.0\n1,0.0,,0.001,0.0\n");
}

TEST_F(TrainingReportTest, MetadataHasThePublishedLayoutFirst) {
  run_.test_predictions = predictions({0, 1, 2}, {1.25, 1, 2});
  run_.record.metrics = metrics_of_rows(data_, {0, 1, 2}, run_.test_predictions, "test");
  const Json json = read_json(write(&data_) / "metadata.json");
  EXPECT_THAT(keys_of(json), ElementsAre("timestamp", "model_info", "data_info", "feature_ranges",
                                         "preprocessing", "evaluation_results", "record"));
  EXPECT_THAT(keys_of(json["model_info"]),
              ElementsAre("model_type", "operator_type", "features", "target", "num_features",
                          "model_parameters", "batch_norm_position"));
  EXPECT_EQ(json["model_info"]["model_type"], "GEMM_MLP");
  EXPECT_THAT(keys_of(json["model_info"]["model_parameters"]),
              ElementsAre("input_dim", "hidden_dims", "dropout_rate", "total_parameters"));
  EXPECT_EQ(json["data_info"]["train_hardware_distribution"]["NVIDIA A100-SXM4-80GB"], 2);
  const Json& overall = json["evaluation_results"]["overall"];
  EXPECT_THAT(keys_of(overall),
              ElementsAre("mae", "rmse", "r2", "mean_relative_error", "median_relative_error",
                          "accuracy_10_percent", "accuracy_20_percent", "accuracy_50_percent"));
  EXPECT_NEAR(overall["mean_relative_error"].get<double>(), 1.25 / 3, 1e-6);
  EXPECT_EQ(json["evaluation_results"]["by_hardware"]["NVIDIA A100-SXM4-80GB"]["test_samples"], 2);
  EXPECT_EQ(to_json_text(json["record"]), record_json(run_.record));
}

TEST_F(TrainingReportTest, MetadataOfALogRatioModelClaimsNothingPublished) {
  run_.record.kind = ModelKind::log_ratio;
  run_.network = {{128, 64}, 3, 0, 1000};
  run_.validation_rows = {0};
  run_.validation_predictions = predictions({0}, {1});
  const Json json = read_json(write(nullptr) / "metadata.json");
  EXPECT_EQ(json["model_info"]["target"], "ln(duration / bound)");
  EXPECT_EQ(json["model_info"]["model_parameters"]["members"], 3);
  EXPECT_FALSE(json["model_info"].contains("batch_norm_position"));
  EXPECT_FALSE(json.contains("evaluation_results"));
}

}  // namespace
}  // namespace pw
