#include "regression_tree.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace pw {
namespace {

double weighted_squares(const std::vector<TreeRow>& rows) {
  double weight = 0, sum = 0, squares = 0;
  for (const TreeRow& row : rows) {
    weight += row.weight;
    sum += row.weight * row.y;
  }
  for (const TreeRow& row : rows) {
    squares += row.weight * (row.y - sum / weight) * (row.y - sum / weight);
  }
  return squares;
}

struct Parts {
  std::vector<TreeRow> low, high;
};
Parts split(const std::vector<TreeRow>& rows, std::size_t feature, double threshold) {
  Parts parts;
  for (const TreeRow& row : rows) {
    (row.x[feature] <= threshold ? parts.low : parts.high).push_back(row);
  }
  return parts;
}

// The squared error that the best allowed split leaves, infinite without one: all are tried.
double least_squares_after_split(const std::vector<TreeRow>& rows) {
  double least = INFINITY;
  for (const std::size_t feature : {0U, 1U}) {
    for (const TreeRow& row : rows) {
      const Parts parts = split(rows, feature, row.x[feature]);
      if (parts.low.size() >= 2 && parts.high.size() >= 2) {
        least = std::min(least, weighted_squares(parts.low) + weighted_squares(parts.high));
      }
    }
  }
  return least;
}

void expect_right(const RegressionTree& tree, std::size_t index, const std::vector<TreeRow>& rows,
                  int depth) {
  double weight = 0, sum = 0;
  for (const TreeRow& row : rows) {
    weight += row.weight;
    sum += row.weight * row.y;
  }
  const TreeNode& node = tree[index];
  EXPECT_NEAR(node.value, sum / weight, 1e-12);
  ASSERT_LE(depth, 20);
  const double least = least_squares_after_split(rows);
  if (node.feature < 0) {
    EXPECT_TRUE(rows.size() < 5 || depth == 20 || std::isinf(least) ||
                weighted_squares(rows) < 1e-9);
    return;
  }
  const Parts parts = split(rows, static_cast<std::size_t>(node.feature), node.threshold);
  ASSERT_GE(rows.size(), 5U);
  ASSERT_GE(parts.low.size(), 2U);
  ASSERT_GE(parts.high.size(), 2U);
  EXPECT_NEAR(weighted_squares(parts.low) + weighted_squares(parts.high), least, 1e-9);
  expect_right(tree, node.low, parts.low, depth + 1);
  expect_right(tree, node.high, parts.high, depth + 1);
}

TEST(RegressionTree, TakesTheBestAllowedSplitOfEveryNode) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<TreeRow> rows;
    for (std::size_t i = 0; i < 1 + random() % 80; ++i) {
      rows.push_back({{static_cast<float>(random() % 50), static_cast<float>(2 << random() % 3)},
                      static_cast<double>(random() % 1000) / 100,
                      static_cast<double>(1 + random() % 3)});
    }
    SCOPED_TRACE(round);
    expect_right(grow_tree(rows), 0, rows, 0);
  }
}

TEST(RegressionTree, StopsAtDepth20) {
  // Each split takes two rows off the end: a chain as deep as it may be.
  std::vector<TreeRow> rows;
  for (int i = 0; i < 100; ++i) {
    rows.push_back({{static_cast<float>(i), 2}, std::pow(4.0, i / 2), 1});
  }
  const RegressionTree tree = grow_tree(rows);
  EXPECT_EQ(tree.size(), 41U);
  expect_right(tree, 0, rows, 0);
}

TEST(RegressionTree, SeparatesNoEqualFloats) {
  // As float32 the sizes are three, each with two rows.
  std::vector<TreeRow> rows;
  for (const std::int64_t bytes :
       {99'999'999, 100'000'001, 200'000'000, 200'000'004, 300'000'000, 300'000'008}) {
    rows.push_back({{static_cast<float>(bytes), 2}, static_cast<double>(rows.size()), 1});
  }
  const RegressionTree tree = grow_tree(rows);
  ASSERT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree[0].feature, 0);
}

TEST(LastWholeNumber, IsTheLastOneThatRoundsToAFloatBelowTheThreshold) {
  std::vector<double> thresholds{1, 1.5, 2.999, 3, 5, 16'777'215.5, 16'777'216, 16'777'217};
  std::mt19937_64 random(9);
  for (int i = 0; i < 2000; ++i) {
    const auto low = static_cast<float>(random() >> (20 + random() % 40));
    const auto high = static_cast<float>(random() >> (20 + random() % 40));
    if (low + high >= 2) {
      thresholds.push_back(static_cast<double>(low) / 2 + static_cast<double>(high) / 2);
    }
  }
  for (const double threshold : thresholds) {
    const std::int64_t last = last_whole_number_below(threshold);
    EXPECT_LE(static_cast<float>(last), threshold) << threshold;
    EXPECT_GT(static_cast<float>(last + 1), threshold) << threshold;
  }
}

}  // namespace
}  // namespace pw
