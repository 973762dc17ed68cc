#include "train_collective.h"

#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "io/sha256.h"
#include "pw/collective.h"
#include "pw/fields.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TrainCollective : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("pw_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "data");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write_csv(const std::string& gpu, const std::string& collective, double factor) const {
    fs::create_directories(folder_ / "data" / gpu);
    std::ofstream csv(folder_ / "data" / gpu / (collective + ".csv"));
    csv << ",time_stats." << collective << ".median,time_stats." << collective
        << ".mean,num_workers,size\n";
    for (int i = 0; i < 30; ++i) {
      csv << i << ',' << factor * (0.01 + 1e-3 * i) << ',' << factor * 7 << ','
          << (i % 2 == 0 ? 2 : 4) << ',' << (1000 << (i / 2)) << '\n';
    }
  }

  int run(const std::string& options = "") {
    cli::App app;
    std::function<int()> action;
    add_collective_command(app, action);
    app.cli11().parse("collective --data \"" + (folder_ / "data").string() + "\" --output \"" +
                      (folder_ / "out" / "c.json").string() + "\" --source \"made up\" " + options);
    return action();
  }

  std::string data_error() {
    try {
      run();
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(TrainCollective, FitsEveryFileOfEveryGpu) {
  write_csv("H100", "all_reduce", 1);
  write_csv("A100", "send_recv", 2);
  write_csv("A100", "all_reduce", 3);
  std::ofstream(folder_ / "data" / "README.md") << "not a GPU\n";
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(), 0);
  const std::string table = testing::internal::GetCapturedStdout();
  EXPECT_THAT(table, HasSubstr("A100           all_reduce     30"));
  EXPECT_THAT(table, HasSubstr("H100           all_reduce     30"));

  const std::string first = read_file(folder_ / "out" / "c.json");
  const CollectiveCatalog catalog = CollectiveCatalog::read(folder_ / "out" / "c.json");
  ASSERT_EQ(catalog.models().size(), 3U);
  const CollectiveModel& model = catalog.models()[0];
  EXPECT_EQ(model.hardware, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(model.collective, "all_reduce");
  EXPECT_EQ(model.source, "made up");
  EXPECT_EQ(model.sha256, sha256_hex(read_file(folder_ / "data" / "A100" / "all_reduce.csv")));
  ASSERT_EQ(model.curves.size(), 2U);
  EXPECT_EQ(model.curves.at(2).rows, 15);
  EXPECT_NEAR(model.curves.at(2).duration_us.front(), 30, 1e-3);  // 3 x 0.01 ms
  ASSERT_FALSE(model.errors.empty());
  EXPECT_EQ(model.errors.front().name, "all");
  EXPECT_EQ(model.errors.front().summary.rows, 30);

  testing::internal::CaptureStdout();
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), table);
  EXPECT_EQ(read_file(folder_ / "out" / "c.json"), first);
}

TEST_F(TrainCollective, FitsForestsToMeans) {
  write_csv("H100", "all_reduce", 1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run("--model forest"), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("forest model on the mean"));
  const CollectiveCatalog catalog = CollectiveCatalog::read(folder_ / "out" / "c.json");
  const CollectiveModel& model = catalog.models()[0];
  EXPECT_EQ(model.kind(), CollectiveKind::forest);
  EXPECT_EQ(model.statistic, CallStatistic::mean);
  EXPECT_NEAR(evaluate(model, 5000, 2), 7000, 1e-6);
  EXPECT_EQ(model.errors.front().summary.rows, 30);

  testing::internal::CaptureStdout();
  EXPECT_EQ(run("--model forest --statistic median"), 0);
  testing::internal::GetCapturedStdout();
  EXPECT_LT(evaluate(CollectiveCatalog::read(folder_ / "out" / "c.json").models()[0], 5000, 2),
            100);
}

TEST_F(TrainCollective, ComparesBothModels) {
  write_csv("H100", "all_reduce", 1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run("--compare-forest"), 0);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("fitted to and tested on the mean of the calls"));
  EXPECT_THAT(text, HasSubstr("fitted to and tested on the median of the calls"));
  EXPECT_THAT(text, HasSubstr("mean of files  all_reduce"));
}

TEST_F(TrainCollective, UnusableFoldersAreErrorsAndWriteNothing) {
  EXPECT_THAT(data_error(), HasSubstr("no GPU folder"));
  fs::create_directories(folder_ / "data" / "A100");
  EXPECT_THAT(data_error(), HasSubstr("neither all_reduce.csv nor send_recv.csv"));
  write_csv("A100", "all_reduce", 0);
  EXPECT_THAT(data_error(), HasSubstr("all_reduce.csv:2"));
  write_csv("A100", "all_reduce", 1);
  write_csv("GTX 9", "all_reduce", 1);
  EXPECT_THAT(data_error(), HasSubstr("GTX 9"));
  fs::remove_all(folder_ / "data");
  EXPECT_THAT(data_error(), HasSubstr("no GPU folder"));
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(TrainCollective, AsksForWhatItNeeds) {
  cli::App app;
  std::function<int()> action;
  add_collective_command(app, action);
  EXPECT_THROW(app.cli11().parse("collective --data x --output y"), CLI::RequiredError);
  EXPECT_THROW(app.cli11().parse("collective --data x --output y --source z --model tree"),
               CLI::ValidationError);
  EXPECT_FALSE(action);
}

}  // namespace
}  // namespace pw
