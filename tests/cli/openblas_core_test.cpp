#include "model/openblas_core.h"

#include <fstream>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/checkpoint.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;
using testing::Not;

// pw-train with an OpenBLAS before LibTorch's that takes the processor for a Prescott.
class OpenblasCoreTest : public testing::Test {
 protected:
  void SetUp() override {
    better_ = better_openblas_cores("Prescott", vector_unit());
    if (better_.empty()) {
      GTEST_SKIP() << "this processor has no AVX2";
    }
    std::string csv = "M,N,K,avg_duration,hardware\n";
    for (int i = 1; i <= 20; ++i) {
      csv += std::to_string(100 * i) + ",1280,1024," + std::to_string(3 + 2 * i) + ",A100\n";
    }
    folder_.file("train.csv", csv);
  }

  // `variables`: settings such as NAME=value, as env takes them.
  ProgramResult train(std::vector<std::string> variables, std::vector<std::string> more = {}) {
    std::vector<std::string> command = {"-u", "OPENBLAS_CORETYPE",
                                        "LD_PRELOAD=" + old_openblas().string()};
    command.insert(command.end(), variables.begin(), variables.end());
    command.insert(command.end(), {program("pw-train"), "mlp", "--operator", "gemm", "--train",
                                   "train.csv", "--output", "m.pt", "--batch-size", "8"});
    command.insert(command.end(), more.begin(), more.end());
    return run_program(folder_.path(), "env", command);
  }
  std::map<std::string, std::string> training() const {
    const ModelRecord record = read_checkpoint_record(folder_.path() / "m.pt");
    return {record.training.begin(), record.training.end()};
  }

  std::vector<std::string> better_;  // what fits this processor
  const TemporaryFolder folder_;
};

TEST_F(OpenblasCoreTest, GoesOnWithAFittingOneAndSaysSo) {
  const ProgramResult result = train({}, {"--epochs", "2", "--source", "runs of 'ours'  here"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("OpenBLAS: " + better_[0] +
                                       " kernels, checked, in place of Prescott ones"));
  EXPECT_EQ(training()["openblas_core"], better_[0]);
  EXPECT_EQ(training()["epochs"], "2");
  EXPECT_EQ(read_checkpoint_record(folder_.path() / "m.pt").data[0].source, "runs of 'ours'  here");
}

TEST_F(OpenblasCoreTest, FallsBackWhenTheFirstCrashes) {
  const ProgramResult result = train({"OLD_OPENBLAS_CRASHES=" + better_[0]}, {"--epochs", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(training()["openblas_core"], better_.size() > 1 ? better_[1] : "Prescott");
}

TEST_F(OpenblasCoreTest, StaysWhenNoneIsRight) {
  const ProgramResult result =
      train({"OLD_OPENBLAS_CRASHES=" + better_.front(), "OLD_OPENBLAS_WRONG=" + better_.back()},
            {"--epochs", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("OpenBLAS stays with its Prescott kernels"));
  EXPECT_EQ(training()["openblas_core"], "Prescott");
}

TEST_F(OpenblasCoreTest, TheUsersChoiceWins) {
  const ProgramResult result = train({"OPENBLAS_CORETYPE=Nehalem"}, {"--epochs", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, Not(HasSubstr("OpenBLAS")));
  EXPECT_EQ(training()["openblas_core"], "Nehalem");
}

TEST_F(OpenblasCoreTest, WrongUsageAndHelpDoNotPayForIt) {
  const ProgramResult wrong = train({}, {"--epochs", "none"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, Not(HasSubstr("OpenBLAS")));
  EXPECT_THAT(train({}, {"--help"}).errors, Not(HasSubstr("OpenBLAS")));
}

// Of a program that started again the pipe would be empty.
TEST_F(OpenblasCoreTest, StaysWhenOptionsComeThroughAPipe) {
  folder_.file("c.json", R"({"epochs": 2})");
  const std::string command =
      "cat c.json | env -u OPENBLAS_CORETYPE LD_PRELOAD=" + old_openblas().string() + " " +
      program("pw-train") +
      " mlp --operator gemm --train train.csv --output m.pt"
      " --batch-size 8 --config /dev/stdin";
  const ProgramResult result = run_program(folder_.path(), "sh", {"-c", command});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(training()["epochs"], "2");
  EXPECT_EQ(training()["openblas_core"], "Prescott");
}

}  // namespace
}  // namespace pw
