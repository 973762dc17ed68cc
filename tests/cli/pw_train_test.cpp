#include <algorithm>
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "pw/checkpoint.h"
#include "support/built.h"
#include "support/reference.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

// GEMMs that take a launch of 3 us and the time of their operations at half of the A100's peak.
std::string gemm_rows() {
  std::string csv = "M,N,K,avg_duration,hardware,source\n";
  for (int i = 1; i <= 40; ++i) {
    const double m = 100.0 * i, n = 128.0 * (1 + i % 7), k = 1024;
    csv += std::to_string(static_cast<int>(m)) + "," + std::to_string(static_cast<int>(n)) +
           ",1024," + std::to_string(3 + 2 * m * n * k / 156e6) + ",A100,own\n";
  }
  return csv;
}

class PwTrainTest : public testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> arguments) const {
    return run_program(folder_.path(), program("pw-train"), arguments);
  }
  ProgramResult train(const std::string& csv, std::vector<std::string> more = {}) const {
    folder_.file("train.csv", csv);
    std::vector<std::string> arguments{"mlp",       "--operator",   "gemm", "--train",
                                       "train.csv", "--output",     "m.pt", "--epochs",
                                       "3",         "--batch-size", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  bool wrote() const { return fs::exists(folder_.path() / "m.pt"); }
  const TemporaryFolder folder_;
};

// A copy alone in a folder has no libpw_torch_engine.so beside it.
TEST_F(PwTrainTest, LoadsLibTorchOnlyToFit) {
  fs::copy_file(program("pw-train"), folder_.path() / "pw-train");
  const auto run_copy = [&](std::vector<std::string> arguments) {
    return run_program(folder_.path(), "./pw-train", arguments);
  };
  folder_.file("train.csv", gemm_rows());
  EXPECT_EQ(run_copy({"mlp", "--help"}).exit_code, 0);
  EXPECT_EQ(run_copy({"mlp", "--operator", "gemm", "--epochs", "none"}).exit_code, 2);
  const ProgramResult linear =
      run_copy({"linear", "--operator", "gemm", "--train", "train.csv", "--output", "linear.json",
                "--hardware-dir", (source_folder() / "hardware").string()});
  EXPECT_EQ(linear.exit_code, 0) << linear.errors;
  const ProgramResult mlp =
      run_copy({"mlp", "--operator", "gemm", "--train", "train.csv", "--output", "m.pt"});
  EXPECT_EQ(mlp.exit_code, 3);
  EXPECT_THAT(mlp.errors,
              AllOf(HasSubstr("pw-train mlp needs LibTorch"), HasSubstr("libpw_torch_engine.so")));
}

TEST_F(PwTrainTest, TrainsAndTellsHowWell) {
  const ProgramResult result =
      train(gemm_rows() + "1,1,1,nan,A100,own\n",
            {"--test", "train.csv", "--source", "own runs", "--where", "source=own"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("training data: 40 rows (NVIDIA A100-SXM4-80GB 40)"),
                    HasSubstr("left out: 1 avg_duration is not finite"), HasSubstr(".csv:42"),
                    HasSubstr("epoch 3 of at most 3"), HasSubstr("wrote m.pt")));
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("validation: NVIDIA A100-SXM4-80GB"), HasSubstr("\ntest ")));
  const ModelRecord record = read_checkpoint_record(folder_.path() / "m.pt");
  EXPECT_EQ(record.data[0].source, "own runs");
  EXPECT_EQ(record.data[0].rows_used, 40);
}

TEST_F(PwTrainTest, G02SameBytesWhateverTheEnvironmentSaysAboutThreads) {
  train(gemm_rows());
  const std::string first = read_file(folder_.path() / "m.pt");
  for (const char* variable : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    setenv(variable, "2", 1);
    train(gemm_rows());
    unsetenv(variable);
    EXPECT_TRUE(first == read_file(folder_.path() / "m.pt")) << variable;
  }
}

TEST_F(PwTrainTest, RecordsWhoseKernelsWereMeasured) {
  std::string csv = gemm_rows();
  for (std::size_t at = 0; (at = csv.find(",own\n", at)) != std::string::npos;) {
    csv.replace(at, 5, ",LibTorch 9 linear\n");
  }
  csv.replace(csv.find(",source"), 7, ",kernel_source");
  EXPECT_EQ(train(csv).exit_code, 0);
  EXPECT_THAT(
      read_checkpoint_record(folder_.path() / "m.pt").training,
      testing::Contains(std::pair<std::string, std::string>("kernel_source", "LibTorch 9 linear")));
}

TEST_F(PwTrainTest, PublishedRulesAreRecorded) {
  EXPECT_EQ(train(gemm_rows(), {"--published-rules", "--fa2-schedule", "faithful"}).exit_code, 0);
  const ModelRecord record = read_checkpoint_record(folder_.path() / "m.pt");
  EXPECT_EQ(record.analysis.fa2_schedule, Fa2Schedule::published);
  EXPECT_THAT(record.training,
              testing::Contains(std::pair<std::string, std::string>("split", "published")));
}

TEST_F(PwTrainTest, TakesOptionsFromAFileAndStoresWhatHeld) {
  std::string csv = gemm_rows();
  csv.replace(csv.find("avg_duration"), 12, "duration_us");
  folder_.file("c.json",
               R"({"group_by": ["M", "hardware"], "features": "tensor_all_cycle,global_cycle",
                   "weight": "K", "learning-rate": 0.002, "seed": 7, "report": "report"})");
  const ProgramResult result = train(csv, {"--config", "c.json", "--seed", "8"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ModelRecord record = read_checkpoint_record(folder_.path() / "m.pt");
  EXPECT_THAT(record.features, ElementsAre("tensor_all_cycle", "global_cycle"));
  EXPECT_EQ(record.data[0].duration_unit, "us");
  const std::map<std::string, std::string> training(record.training.begin(), record.training.end());
  EXPECT_EQ(training.at("learning_rate"), "0.002");
  EXPECT_EQ(training.at("seed"), "8");
  EXPECT_EQ(training.at("group_by"), "M, hardware");
  EXPECT_EQ(training.at("weight_column"), "K");
  const fs::path report = folder_.path() / "report";
  EXPECT_EQ(to_json_text(read_json(report / "metadata.json")["record"]), record_json(record));
  EXPECT_EQ(CsvTable::read(report / "loss_curve.csv").rows(), 3u);
  EXPECT_EQ(CsvTable::read(report / "worst_cases_top100.csv").rows(),
            static_cast<std::size_t>(std::stoi(training.at("rows_validation"))));
}

TEST_F(PwTrainTest, OptionsThatDoNotGoTogetherAreErrors) {
  folder_.file("c.json", R"({"epoch": 3})");
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
    int exit_code;  // 2 for the command line, 3 for what a file says
  };
  const Case cases[] = {
      {{"--config", "c.json"}, "unknown option 'epoch', expected one of", 3},
      {{"--duration-unit", "ms"}, "'duration_us' names its unit", 3},
      {{"--resume", "no.state"}, "no.state", 3},
      {{"--features", "no_such"}, "unknown feature 'no_such'", 2},
      {{"--published-split", "--group-by", "M"}, "--group-by has no effect", 2},
      {{"--members", "2"}, "--members does not belong to --preset published", 2},
      {{"--patience", "0"}, "patience is 0, expected at least 1", 2},
      {{"--dropout", "1"}, "dropout is 1.0, expected between", 2},
      {{"--where", "M"}, "row filter 'M', expected", 2},
      {{"--weight-copies", "0.5"}, "weight copies are 0.500000, expected 1 to 1e6", 2},
      {{"--weight-copies", "inf"}, "weight copies are inf, expected 1 to 1e6", 2},
      {{"--save-state", "./m.pt"}, "--output and --save-state would both be written to", 2},
  };
  std::string csv = gemm_rows();
  csv.replace(csv.find("avg_duration"), 12, "duration_us");
  for (const auto& [arguments, message, exit_code] : cases) {
    const ProgramResult result = train(csv, arguments);
    EXPECT_EQ(result.exit_code, exit_code) << message;
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_FALSE(wrote());
  }
}

// Waits for the first state, then asks the program to stop.
constexpr char kStopScript[] =
    "\"$@\" & pid=$!; while [ ! -e s ] && kill -0 $pid; do sleep 0.02; done; "
    "kill -TERM $pid; wait $pid";

TEST_F(PwTrainTest, StopsInOrderAndGoesOn) {
  folder_.file("train.csv", gemm_rows());
  const std::vector<std::string> command{
      "mlp",    "--operator", "gemm",   "--train", "train.csv", "--output",     "m.pt", "--epochs",
      "100000", "--patience", "100000", "--every", "1",         "--save-state", "s"};
  std::vector<std::string> script{"-c", kStopScript, "stop", program("pw-train")};
  script.insert(script.end(), command.begin(), command.end());
  const ProgramResult stopped = run_program(folder_.path(), "/bin/sh", script);
  EXPECT_EQ(stopped.exit_code, 5) << stopped.errors;
  EXPECT_THAT(stopped.errors, AllOf(HasSubstr("stopped on request after epoch"),
                                    HasSubstr("best epoch so far"), HasSubstr("--resume s")));
  EXPECT_TRUE(wrote());
  const auto training = read_checkpoint_record(folder_.path() / "m.pt").training;
  EXPECT_EQ(training.back().first, "stopped");

  // The state is good: only the number of epochs is said to differ.
  std::vector<std::string> resume = command;
  resume[8] = "99999";
  resume.insert(resume.end(), {"--resume", "s"});
  const ProgramResult resumed = run(resume);
  EXPECT_EQ(resumed.exit_code, 3);
  EXPECT_THAT(resumed.errors, HasSubstr("/training/epochs"));
}

TEST_F(PwTrainTest, RecommendedKeepsNoUnfinishedFit) {
  folder_.file("train.csv", gemm_rows());
  const ProgramResult stopped =
      run_program(folder_.path(), "/bin/sh",
                  {"-c", kStopScript, "stop", program("pw-train"), "mlp", "--preset", "recommended",
                   "--operator", "gemm", "--train", "train.csv", "--output", "m.pt", "--epochs",
                   "100000", "--every", "1", "--save-state", "s"});
  EXPECT_EQ(stopped.exit_code, 5) << stopped.errors;
  EXPECT_THAT(stopped.errors, HasSubstr("no checkpoint, because no fit is complete"));
  EXPECT_FALSE(wrote());
}

TEST_F(PwTrainTest, BadDataEndsInOneSentenceAndNoFile) {
  const std::string header = "M,N,K,avg_duration,hardware\n";
  const std::pair<std::string, const char*> cases[] = {
      {header + "16,2048,2048,nan,A100\n", "no usable rows"},
      {header + "2048,5632,2048,0.1727309,A100\n", "are durations in microseconds?"},
      {"M,N,avg_duration,hardware\n16,2048,8.3,A100\n", "'K'"},
      {"", "train.csv"},
  };
  for (const auto& [csv, message] : cases) {
    const ProgramResult result = train(csv);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_FALSE(wrote());
  }
}

TEST_F(PwTrainTest, CalibratesByGemmsOrBesideARelative) {
  folder_.file("gemm.csv",
               "M,N,K,avg_duration,hardware\n"
               "8192,8192,8192,9500,RTX A6000\n8192,8192,8192,10000,A40\n"
               "8,16384,16384,1000,RTX A6000\n8,16384,16384,1250,A40\n");
  const auto calibrate = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"calibrate", "--data", "gemm.csv", "--hardware", "RTX A6000"});
    return run(more);
  };
  const ProgramResult by_gemms = calibrate({});
  EXPECT_EQ(by_gemms.exit_code, 0) << by_gemms.errors;
  EXPECT_THAT(by_gemms.output, AllOf(HasSubstr("NVIDIA RTX A6000, 2 GEMMs\n"),
                                     HasSubstr("\"sustainedTensorFraction\": 0.74"),
                                     HasSubstr("\"sustainedDramFraction\": 0.69")));
  const ProgramResult beside = calibrate({"--reference", "A40"});
  EXPECT_EQ(beside.exit_code, 0) << beside.errors;
  EXPECT_THAT(beside.output, AllOf(HasSubstr("NVIDIA RTX A6000 beside NVIDIA A40\n"),
                                   HasSubstr("of the NVIDIA A40's 0.760626; median of 1 problem")));

  folder_.file("gemm.csv", "M,N,K,avg_duration,hardware\n8192,8192,8192,5,RTX A6000\n");
  EXPECT_THAT(calibrate({}).output, HasSubstr("NOT to be used: above 1; is avg_duration in us"));

  folder_.file("moe.csv",
               "weight_type,M,E,topk,H,N,avg_duration,hardware\n"
               "w13,8192,8,2,4096,14336,50000,RTX A6000\nw13,8192,8,2,4096,14336,60000,A40\n");
  const ProgramResult by_moe = run({"calibrate", "--data", "moe.csv", "--hardware", "RTX A6000",
                                    "--operator", "moe", "--reference", "A40"});
  EXPECT_EQ(by_moe.exit_code, 0) << by_moe.errors;
  EXPECT_THAT(by_moe.output, AllOf(HasSubstr("median of 1 problem"),
                                   HasSubstr("DramFraction: no problem in the file shows it")));
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--operator", "gem"}, "gemm"},
      {{"--reference", "RTX A6000"}, "name another one"},
      {{"--reference", "A4000"}, "A4000"},
  };
  for (const auto& [arguments, message] : wrong) {
    EXPECT_EQ(calibrate(arguments).exit_code, 2) << message;
    EXPECT_THAT(calibrate(arguments).errors, HasSubstr(message));
  }

  const ProgramResult alone = calibrate({"--operator", "moe"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--operator moe needs --reference"));
  EXPECT_THAT(calibrate({"--reference", "H100"}).errors,
              HasSubstr("gemm.csv has no rows of NVIDIA H100"));
  EXPECT_THAT(calibrate({"--operator", "moe", "--reference", "A40"}).errors,
              HasSubstr("no column 'weight_type', 'E', 'topk', 'H'"));
}

TEST_F(PwTrainTest, WrongUsageEndsWithCode2) {
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"mlp", "--operator", "gemm"}).exit_code, 2);
  EXPECT_EQ(train(gemm_rows(), {"--fa2-schedule", "other"}).exit_code, 2);
  EXPECT_EQ(train(gemm_rows(), {"--epochs", "many"}).exit_code, 2);
  EXPECT_FALSE(wrote());
  EXPECT_EQ(run({"--help"}).exit_code, 0);
}

TEST_F(PwTrainTest, ImportsPublishedCheckpoints) {
  PW_REFERENCE_OR_SKIP(reference);
  const std::string pth =
      (fs::absolute(reference) / "checkpoints_upstream/rmsnorm/rmsnorm_mlp_model.pth").string();
  EXPECT_EQ(run({"import", pth, "--operator", "gemm", "--output", "m.pt"}).exit_code, 3);
  EXPECT_FALSE(wrote());
  EXPECT_EQ(run({"import", pth, "--operator", "rmsnorm", "--output", "m.pt"}).exit_code, 0);
  EXPECT_EQ(read_checkpoint_record(folder_.path() / "m.pt").features.size(), 15u);
}

}  // namespace
}  // namespace pw
