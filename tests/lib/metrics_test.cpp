#include "metrics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace pw {
namespace {

TEST(Metrics, FollowTheirDefinitions) {
  // Relative errors 0.5, 0.1 (of 0.4: 0.04), 0.25, 0; differences 0.05, -0.04, 0.2, 0.
  const Metrics m = compute_metrics({0.15f, 0.36f, 1.0f, 0.5f}, {0.1f, 0.4f, 0.8f, 0.5f});
  EXPECT_EQ(m.rows, 4);
  EXPECT_NEAR(m.mae, 0.0725, 1e-7);
  EXPECT_NEAR(m.rmse, std::sqrt((0.0025 + 0.0016 + 0.04) / 4), 1e-7);
  // mean 0.45; squares 0.1225 + 0.0025 + 0.1225 + 0.0025 = 0.25
  EXPECT_NEAR(m.r2.value(), 1 - 0.0441 / 0.25, 1e-6);
  EXPECT_NEAR(m.mean_relative_error, 0.2125, 1e-6);
  EXPECT_NEAR(m.median_relative_error, 0.175, 1e-6);
  EXPECT_NEAR(m.percentile_95_relative_error, 0.25 + 0.85 * 0.25, 1e-6);
  EXPECT_NEAR(m.max_relative_error, 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(m.accuracy_20_percent, 50);
}

TEST(Metrics, DurationErrorsAreThoseOfTheInverse) {
  // Durations 2, 0.5, 0.8 and 1 times the measured ones.
  const Metrics m = compute_metrics({0.1f, 0.8f, 0.5f, 0.5f}, {0.2f, 0.4f, 0.4f, 0.5f});
  EXPECT_NEAR(m.duration_bias.value(), (1 - 0.5 - 0.2 + 0) / 4, 1e-6);
  EXPECT_NEAR(m.duration_mean_relative_error.value(), 1.7 / 4, 1e-6);
  EXPECT_NEAR(m.duration_median_relative_error.value(), 0.35, 1e-6);
  EXPECT_NEAR(m.duration_percentile_95_relative_error.value(), 0.5 + 0.85 * 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(m.duration_accuracy_10_percent.value(), 25);
}

TEST(Metrics, AccuracyIsStrict) {
  // Binary fractions, so that the error of the second row is 0.5 up to the offset of 1e-8.
  const Metrics m = compute_metrics({0.75f, 1.0f}, {0.5f, 0.5f});
  EXPECT_DOUBLE_EQ(m.accuracy_50_percent, 0);
  EXPECT_DOUBLE_EQ(compute_metrics({0.7f, 1.0f}, {0.5f, 0.5f}).accuracy_50_percent, 50);
}

TEST(Metrics, ClipsPredictionsBeforeComparing) {
  EXPECT_NEAR(compute_metrics({-3.0f}, {0.5f}).mae, 0.5, 1e-6);
}

TEST(Metrics, EqualTargetsHaveNoR2) {
  EXPECT_FALSE(compute_metrics({0.4f, 0.6f}, {0.5f, 0.5f}).r2.has_value());
  EXPECT_TRUE(compute_metrics({0.4f, 0.6f}, {0.4f, 0.6f}).r2.has_value());
}

TEST(Metrics, QuantileInterpolatesLinearly) {
  const std::vector<float> sorted{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile_of_sorted(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(sorted, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(sorted, 1), 8);
  EXPECT_DOUBLE_EQ(quantile_of_sorted({5}, 0.95), 5);
}

TEST(Metrics, ByHardwareKeepsTheOrderOfFirstAppearance) {
  const auto table = metrics_by_hardware({0.5f, 0.5f, 0.25f}, {0.5f, 0.25f, 0.25f}, {1, 0, 1},
                                         {"A", "B", "unused"}, "test");
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].first, "test");
  EXPECT_EQ(table[0].second.rows, 3);
  EXPECT_EQ(table[1].first, "test: B");
  EXPECT_EQ(table[1].second.rows, 2);
  EXPECT_NEAR(table[1].second.mean_relative_error, 0, 1e-7);
  EXPECT_EQ(table[2].first, "test: A");
  EXPECT_NEAR(table[2].second.mean_relative_error, 1, 1e-6);
}

}  // namespace
}  // namespace pw
