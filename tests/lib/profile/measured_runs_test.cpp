#include "pw/measured_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/comparison.h"
#include "pw/data_paths.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

TEST(MeasuredRuns, AreReadByTheComparison) {
  const TemporaryFolder folder;
  folder.file("e2e_A100.jsonl",
              sglang_lines("M-t", {{100, 4}, {50, 2}},
                           {{0.5, 1.5, {0.2, 0.9, 0.3}}, {0.4, 1.4, {0.25, 0.35, 0.4}}}, "a test"));
  std::vector<std::string> warnings;
  const std::vector<MeasuredCase> cases = read_measurements(
      folder.path(), HardwareCatalog::read(find_data_folder("hardware", std::nullopt)),
      [&](const std::string& warning) { warnings.push_back(warning); });
  EXPECT_THAT(warnings, testing::IsEmpty());
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].run_name, "M-t");
  EXPECT_EQ(cases[0].gpu, "A100");
  ASSERT_EQ(cases[0].runs.size(), 2u);
  EXPECT_DOUBLE_EQ(*cases[0].runs[0].ms[Metric::prefill], 500);
  EXPECT_DOUBLE_EQ(*cases[0].runs[0].ms[Metric::decode], 300);
  EXPECT_DOUBLE_EQ(*cases[0].runs[1].ms[Metric::total], 1400);
  EXPECT_EQ(cases[0].runs[1].iteration, 1);
}

}  // namespace
}  // namespace pw
