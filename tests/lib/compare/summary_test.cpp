#include <algorithm>

#include <gtest/gtest.h>

#include "pw/comparison.h"
#include "statistics.h"

namespace pw {
namespace {

ComparisonRow row(const std::string& gpu, std::optional<double> predicted, bool seen) {
  ComparisonRow result;
  result.method = "m";
  result.name.model = "D";
  result.name.trace = "t";
  result.name.gpu = gpu;
  result.gpu_seen = seen;
  MetricComparison& m = result.metrics[Metric::total];
  m.covered = true;
  m.predicted_ms = predicted;
  m.measured_ms = 100;
  return result;
}

const ErrorSummary* find(const std::vector<ErrorSummary>& all, const std::string& scope,
                         const std::string& group) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const ErrorSummary& s) {
    return s.scope == scope && s.group == group;
  });
  return found == all.end() ? nullptr : &*found;
}

TEST(Summary, GroupsAndCounts) {
  Comparison comparison;
  comparison.methods = {"m"};
  comparison.rows = {row("A100", 110, true), row("A100", 80, true), row("H20", 140, false),
                     row("L20", std::nullopt, false)};
  const auto summaries = summarise(comparison);
  const ErrorSummary* all = find(summaries, "all", "");
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(all->n, 3u);
  EXPECT_EQ(all->excluded, 1u);
  EXPECT_NEAR(all->mean, 70.0 / 3, 1e-12);
  EXPECT_NEAR(all->median, 20, 1e-12);
  EXPECT_NEAR(all->p90, 36, 1e-12);  // 20 + 0.8 * 20
  EXPECT_NEAR(all->max, 40, 1e-12);
  EXPECT_NEAR(all->bias, 10, 1e-12);
  ASSERT_TRUE(all->mean_low);
  EXPECT_GE(*all->mean_low, 10 - 1e-9);
  EXPECT_LE(*all->mean_high, 40 + 1e-9);
  EXPECT_LT(*all->mean_low, all->mean);

  EXPECT_NEAR(find(summaries, "gpu", "A100")->mean, 15, 1e-12);
  EXPECT_EQ(find(summaries, "gpu", "L20")->n, 0u);
  EXPECT_FALSE(find(summaries, "gpu", "H20")->mean_low) << "one value has no interval";
  EXPECT_EQ(find(summaries, "model", "D")->n, 3u);
  EXPECT_EQ(find(summaries, "seen", "seen")->n, 2u);
  EXPECT_EQ(find(summaries, "seen", "unseen")->excluded, 1u);
  for (const ErrorSummary& s : summaries) EXPECT_EQ(s.metric, Metric::total);
}

TEST(Summary, CountsMeasurementsWithinTheBand) {
  Comparison comparison;
  comparison.methods = {"m"};
  comparison.rows = {row("A100", 110, true), row("A100", 80, true), row("H20", 140, false)};
  comparison.rows[0].metrics[Metric::total].band = RangeMs{90, 120};
  comparison.rows[1].metrics[Metric::total].band = RangeMs{70, 99};
  const auto summaries = summarise(comparison);
  EXPECT_EQ(find(summaries, "all", "")->banded, 2u);
  EXPECT_EQ(find(summaries, "all", "")->within_band, 1u);
  EXPECT_EQ(find(summaries, "gpu", "H20")->banded, 0u);
  EXPECT_NE(comparison_text(comparison, summaries).find("1 of 2"), std::string::npos);
  for (ComparisonRow& each : comparison.rows) each.metrics[Metric::total].band.reset();
  EXPECT_EQ(comparison_text(comparison, summarise(comparison)).find("p10-p90"), std::string::npos);
}

TEST(Summary, EnginesStandApart) {
  Comparison comparison;
  comparison.methods = {"m"};
  comparison.rows = {row("H20", 110, true), row("H20", 150, true)};
  comparison.rows[1].name.engine = "vllm";
  std::size_t overall = 0;
  for (const ErrorSummary& s : summarise(comparison)) {
    if (s.scope != "all") continue;
    ++overall;
    EXPECT_EQ(s.n, 1u);
    EXPECT_NEAR(s.mean, s.engine == "vllm" ? 50 : 10, 1e-12);
  }
  EXPECT_EQ(overall, 2u);
}

TEST(Statistics, Quantiles) {
  const std::vector<double> values{4, 1, 3, 2};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 1), 4);
  EXPECT_EQ(quantile(values, 0.5), 2.5);
  EXPECT_NEAR(quantile(values, 0.9), 3.7, 1e-12);
  EXPECT_EQ(quantile({7}, 0.3), 7);
}

// For n values of variance s^2 the interval is near mean +- 1.96 s / sqrt(n).
TEST(Statistics, BootstrapIntervals) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i);
  const auto [low, high] = bootstrap_mean_interval(values);
  const double half_width = 1.96 * 28.87 / 10;
  EXPECT_NEAR(low, 49.5 - half_width, 0.6);
  EXPECT_NEAR(high, 49.5 + half_width, 0.6);
  EXPECT_EQ(bootstrap_mean_interval(values), bootstrap_mean_interval(values));
  BootstrapOptions other;
  other.seed = 2;
  EXPECT_NE(bootstrap_mean_interval(values, other), bootstrap_mean_interval(values));
  EXPECT_EQ(bootstrap_mean_interval({3, 3, 3}), std::make_pair(3.0, 3.0));
}

}  // namespace
}  // namespace pw
