#include <gtest/gtest.h>

#include "io/files.h"
#include "pw/comparison.h"
#include "pw/published_tables.h"
#include "support/reference.h"

namespace pw {
namespace {

constexpr const char* kMethods[] = {"pipeweave", "linear", "neusight", "roofline", "habitat"};

TEST(PublishedComparison, TablesAreEqualByteForByte) {
  PW_REFERENCE_OR_SKIP(reference);
  std::vector<std::pair<std::string, std::filesystem::path>> predictions;
  for (const std::string method : kMethods) {
    predictions.emplace_back(method, reference / "e2e" / (method + "_pred"));
  }
  const auto files = published_tables(predictions, reference / "e2e/real",
                                      [](const std::string& warning) { ADD_FAILURE() << warning; });
  ASSERT_EQ(files.size(), 6u);
  for (const auto& [name, text] : files) {
    EXPECT_TRUE(text == read_file(reference / "e2e" / name)) << name << " differs";
  }
}

// Under our rules every published prediction is compared, and roofline's decode is read.
TEST(PublishedComparison, OurRulesCompareAllCases) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const auto fail = [](const std::string& warning) { ADD_FAILURE() << warning; };
  const std::vector<Method> methods{
      {"pipeweave", read_predictions(reference / "e2e/pipeweave_pred", catalog, fail)},
      {"roofline", read_predictions(reference / "e2e/roofline_pred", catalog, fail)}};
  const Comparison comparison =
      compare(methods, read_measurements(reference / "e2e/real", catalog, fail), RunRule::median);
  EXPECT_EQ(comparison.rows.size(), 88u);
  EXPECT_TRUE(comparison.unmatched.empty());
  EXPECT_TRUE(comparison.excluded.empty());
  EXPECT_TRUE(comparison.notes.empty());
  for (const ErrorSummary& s : summarise(comparison)) {
    if (s.scope != "all") continue;
    EXPECT_EQ(s.n, s.engine == "vllm" ? 4u : 40u);
    // The published table says 100 % in every row.
    if (s.method == "roofline" && s.metric == Metric::decode) {
      EXPECT_LT(s.max, 60);
    }
  }
}

// One row, worked out from the two files by hand.
TEST(PublishedComparison, MedianOfTwoRuns) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const auto fail = [](const std::string& warning) { ADD_FAILURE() << warning; };
  const std::vector<Method> methods{
      {"m",
       {read_prediction_file(
           reference / "e2e/pipeweave_pred/Qwen2.5-14B_arxiv_8_fa2_tp1_pp1_L20.json", catalog,
           fail)}}};
  const Comparison comparison =
      compare(methods, read_measurements(reference / "e2e/real", catalog, fail), RunRule::median);
  ASSERT_EQ(comparison.rows.size(), 1u);
  const MetricComparison& prefill = comparison.rows[0].metrics[Metric::prefill];
  EXPECT_EQ(comparison.rows[0].rule, "median of 2");
  EXPECT_NEAR(*prefill.measured_ms, (7618.526154896244 + 7616.963129024953) / 2, 1e-9);
  EXPECT_NEAR(*prefill.predicted_ms, 8321.430837, 1e-9);
  EXPECT_NEAR(*prefill.signed_error(), 9.24, 0.005);
}

}  // namespace
}  // namespace pw
