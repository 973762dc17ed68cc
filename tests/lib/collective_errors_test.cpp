#include "pw/collective_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pw {
namespace {

using Points = std::vector<std::pair<std::int64_t, double>>;

std::vector<CollectiveSample> samples(const Points& points, std::int64_t workers = 2) {
  std::vector<CollectiveSample> result;
  for (const auto& [bytes, duration_us] : points) {
    result.push_back({bytes, workers, duration_us});
  }
  return result;
}

constexpr CollectiveKind kBoth[] = {CollectiveKind::monotone, CollectiveKind::forest};

TEST(CollectiveErrors, AreRelativeToTheMeasurement) {
  CollectiveModel model;
  model.curves[2] = {{1000}, {10}, 1};
  const auto errors = errors_of(model, samples({{500, 8}, {1000, 20}, {1000, 10}}));
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_DOUBLE_EQ(errors[0].ape_percent, 25);
  EXPECT_DOUBLE_EQ(errors[1].ape_percent, 50);
  EXPECT_EQ(errors[2].ape_percent, 0);
  const auto all = summarise(errors);
  EXPECT_EQ(all->rows, 3);
  EXPECT_DOUBLE_EQ(all->mean_percent, 25);
  EXPECT_DOUBLE_EQ(all->median_percent, 25);
  EXPECT_EQ(summarise(errors, 501, 1001)->rows, 2);
  EXPECT_FALSE(summarise(errors, 0, 500));
}

TEST(CollectiveErrors, CrossValidationPredictsEverySampleWithoutItself) {
  // Every size a bin of its own: the held-out knot is bridged by its neighbours, so a single
  // outlier costs its own error, which the fit on all rows does not show.
  Points points;
  for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
    points.emplace_back(bytes, static_cast<double>(bytes) / 100);
  }
  points[6].second *= 1.5;
  const auto data = samples(points);
  constexpr auto kKind = CollectiveKind::monotone;
  const auto errors = cross_validate(kKind, data, 5, 42);
  ASSERT_EQ(errors.size(), data.size());
  EXPECT_LT(summarise(errors_of(fit_model(kKind, data), data))->mean_percent, 0.01);
  EXPECT_GT(summarise(errors)->mean_percent, 3);
  EXPECT_EQ(summarise(errors)->mean_percent,
            summarise(cross_validate(kKind, data, 5, 42))->mean_percent);
}

TEST(CollectiveErrors, FoldsAreThoseOfEachWorkerCount) {
  for (const CollectiveKind kind : kBoth) {
    EXPECT_EQ(cross_validate(kind, samples({{10, 1}, {1000, 2}}), 5, 42).size(), 2U);
    EXPECT_TRUE(cross_validate(kind, samples({{10, 1}}), 5, 42).empty());
    auto mixed = samples({{10, 1}, {1000, 2}, {2000, 3}});
    mixed.push_back({500, 8, 4});  // alone on its worker count: nothing to predict it from
    const auto errors = cross_validate(kind, mixed, 5, 42);
    EXPECT_EQ(errors.size(), 3U);
    EXPECT_FALSE(summarise(errors, 500, 501));
  }
}

TEST(CollectiveErrors, ExtrapolationFitsBelowAndTestsAbove) {
  constexpr auto kKind = CollectiveKind::monotone;
  const auto data = samples({{100, 10}, {150, 1}, {400, 1}, {401, 80.2}});
  const auto errors =
      extrapolation_errors(kKind, samples({{100, 10}, {150, 999}, {401, 80.2}}), 150, 400);
  ASSERT_EQ(errors.size(), 1U);  // 10 us at 100 bytes are 40.1 us at 401
  EXPECT_EQ(errors[0].bytes, 401);
  EXPECT_NEAR(errors[0].ape_percent, 50, 1e-9);
  EXPECT_TRUE(extrapolation_errors(kKind, data, 100, 400).empty());
  EXPECT_TRUE(extrapolation_errors(kKind, data, 150, 401).empty());

  // A forest stays at 10 us. Another worker count without small messages is not asked for.
  auto mixed = samples({{100, 10}, {401, 40}});
  mixed.push_back({500, 8, 77});
  const auto constant = extrapolation_errors(CollectiveKind::forest, mixed, 150, 400);
  ASSERT_EQ(constant.size(), 1U);
  EXPECT_NEAR(constant[0].ape_percent, 75, 1e-9);
}

TEST(CollectiveErrors, TableHasTheRangesThatHaveRows) {
  Points points;
  for (std::int64_t bytes = 20'000; bytes < 900'000'000; bytes += bytes / 10) {
    points.emplace_back(bytes, 5 + static_cast<double>(bytes) / 1e5);
  }
  for (const CollectiveKind kind : kBoth) {
    const auto table = error_table(kind, samples(points));
    std::vector<std::string> names;
    std::int64_t rows = 0;
    for (const NamedErrors& each : table) {
      names.push_back(each.name);
      rows += each.summary.rows;
    }
    EXPECT_EQ(names, error_table_names());
    EXPECT_EQ(table[0].summary.rows, static_cast<std::int64_t>(points.size()));
    EXPECT_EQ(rows - table.back().summary.rows, 2 * table[0].summary.rows);
  }
  const auto small = error_table(CollectiveKind::monotone, samples({{100, 1}, {200, 2}}));
  ASSERT_EQ(small.size(), 2U);
  EXPECT_EQ(small[1].name, "<100KB");
}

}  // namespace
}  // namespace pw
