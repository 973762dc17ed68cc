#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "pw/checkpoint.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

// GEMMs on two GPUs at about half of their peak after a launch of 3 us, slower by up to 30 %.
std::string gemm_rows() {
  std::string csv = "M,N,K,avg_duration,hardware\n";
  for (int i = 1; i <= 80; ++i) {
    const double m = 50.0 * i, n = 128.0 * (1 + i % 7), k = 1024;
    for (const auto& [gpu, rate] : {std::pair{"A100", 156e6}, {"H100", 500e6}}) {
      const double us = (3 + 2 * m * n * k / rate) * (1 + 0.3 * (i * 37 % 80) / 80);
      csv += std::to_string(static_cast<int>(m)) + "," + std::to_string(static_cast<int>(n)) +
             ",1024," + std::to_string(us) + "," + gpu + "\n";
    }
  }
  return csv;
}

class PwTrainEvaluateTest : public testing::Test {
 protected:
  PwTrainEvaluateTest() { folder_.file("gemm.csv", gemm_rows()); }
  ProgramResult run(std::vector<std::string> arguments,
                    const std::vector<std::string>& more = {}) const {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_.path(), program("pw-train"), arguments);
  }
  ProgramResult quantile(const std::vector<std::string>& more) const {
    return run({"quantile", "--operator", "gemm", "--train", "gemm.csv", "--output", "q.pt",
                "--epochs", "4", "--batch-size", "32"},
               more);
  }
  ProgramResult evaluate(const std::vector<std::string>& more) const {
    return run({"evaluate", "--operator", "gemm", "--train", "gemm.csv", "--preset", "recommended",
                "--epochs", "4", "--batch-size", "32", "--members", "1"},
               more);
  }
  fs::path path(const char* name) const { return folder_.path() / name; }
  const TemporaryFolder folder_;
};

TEST_F(PwTrainEvaluateTest, QuantilesOfBothPresetsWithTheirReports) {
  const ProgramResult published = quantile({"--quantile", "0.9", "--report", "report"});
  EXPECT_EQ(published.exit_code, 0) << published.errors;
  EXPECT_THAT(published.output, AllOf(HasSubstr("q   0.9"), HasSubstr("training: NVIDIA H100")));
  const Json metadata = read_json(path("report/metadata.json"));
  const Json& info = metadata.at("model_info");
  EXPECT_EQ(info.at("model_type"), "GEMM_MLP_QUANTILE");
  EXPECT_EQ(info.at("loss_function"), "Quantile Loss (q=0.9)");
  EXPECT_EQ(info.at("purpose"), "Upper bound prediction (90th percentile)");
  EXPECT_EQ(metadata.at("data_info").at("validation"),
            "No validation split - trained on full dataset");
  EXPECT_EQ(metadata.at("kernel_reports").at("topk_per_hardware"), "all");
  EXPECT_FALSE(metadata.contains("evaluation_results"));
  EXPECT_TRUE(fs::exists(path("report/loss_curve.csv")));

  const ProgramResult recommended =
      quantile({"--preset", "recommended", "--quantile", "0.8", "0.5", "--hold-out-groups", "N,K",
                "--report", "report", "--report-threshold", "100", "--report-topk", "7"});
  EXPECT_EQ(recommended.exit_code, 0) << recommended.errors;
  EXPECT_THAT(recommended.output, AllOf(HasSubstr("q   0.5  q   0.8"), HasSubstr("\nheld out"),
                                        HasSubstr("\nunseen N,K: NVIDIA H100")));
  EXPECT_EQ(read_checkpoint_record(path("q.pt")).output_quantile, 0.8);
  const CsvTable kernels =
      CsvTable::read(path("report/kernel_reports/topk_underperforming_NVIDIA H100.csv"));
  EXPECT_EQ(kernels.rows(), 7u);
  EXPECT_EQ(CsvTable::read(path("report/kernel_reports/summary.csv")).rows(), 2u);

  const ProgramResult tested =
      run({"evaluate", "--checkpoint", "q.pt", "--test", "gemm.csv", "--output", "e.json"});
  EXPECT_EQ(tested.exit_code, 0) << tested.errors;
  EXPECT_THAT(tested.output, AllOf(HasSubstr("bias"), HasSubstr("q   0.8")));
  const Json result = read_json(path("e.json"));
  EXPECT_EQ(result.at("metrics").at("test").at("rows"), 160);
  EXPECT_EQ(result.at("coverage").at("test: NVIDIA H100").at("shares").size(), 2u);
}

TEST_F(PwTrainEvaluateTest, TellsSeenFromUnseen) {
  const ProgramResult gpus = evaluate({"--leave-one-gpu-out", "--output", "e.json"});
  EXPECT_EQ(gpus.exit_code, 0) << gpus.errors;
  EXPECT_THAT(gpus.output, AllOf(HasSubstr("held out: GPU"), HasSubstr("\nseen: NVIDIA H100"),
                                 HasSubstr("\nunseen: NVIDIA A100-SXM4-80GB"),
                                 HasSubstr("rows within p10-p90")));
  const Json first = read_json(path("e.json"));
  EXPECT_EQ(first.at("metrics").at("unseen").at("rows"), 160);
  EXPECT_EQ(first.at("errors").at("all").at("rows"), 160);
  EXPECT_GT(first.at("metrics").at("unseen").at("duration_mean_relative_error"), 0);
  evaluate({"--leave-one-gpu-out", "--output", "e.json"});
  EXPECT_EQ(read_json(path("e.json")), first);

  const ProgramResult groups = evaluate({"--hold-out-groups", "N,K", "--output", "e.json"});
  EXPECT_THAT(groups.output,
              AllOf(HasSubstr("groups of equal N, K, one part of 5"), HasSubstr("\nseen ")));
  EXPECT_LT(read_json(path("e.json")).at("metrics").at("unseen").at("rows"), 80);
  const ProgramResult folds = evaluate({"--folds", "3", "--output", "e.json"});
  EXPECT_THAT(folds.output,
              AllOf(HasSubstr("problems, in 3 folds"), testing::Not(HasSubstr("\nseen "))));
  EXPECT_EQ(read_json(path("e.json")).at("metrics").at("unseen").at("rows"), 160);
}

TEST_F(PwTrainEvaluateTest, OptionsThatDoNotGoTogetherAreErrors) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"evaluate", "--checkpoint", "q.pt", "--train", "gemm.csv"}, "on the rows of --test"},
      {{"evaluate", "--train", "gemm.csv"}, "give --operator and --train"},
      {{"evaluate", "--operator", "gemm", "--train", "gemm.csv", "--members", "2"},
       "does not belong to --preset published"},
      {{"quantile", "--operator", "gemm", "--train", "gemm.csv", "--output", "q.pt", "--quantile",
        "0.5", "0.8"},
       "fits one quantile"},
  };
  for (const auto& [arguments, message] : cases) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.errors, HasSubstr(message));
  }
  EXPECT_EQ(evaluate({"--leave-one-gpu-out", "--folds", "3"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(path("q.pt")));
}

}  // namespace
}  // namespace pw
