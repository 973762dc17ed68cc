#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace pw {

// A sample of a regression in two features.
struct TreeRow {
  std::array<float, 2> x{};
  double y = 0;
  double weight = 0;  // how often the bootstrap drew it
};

// Nodes in the order of their creation; the root is the first.
struct TreeNode {
  int feature = -1;      // -1: a leaf
  double threshold = 0;  // x <= threshold goes to `low`
  std::size_t low = 0, high = 0;
  double value = 0;  // weighted mean of y
};
using RegressionTree = std::vector<TreeNode>;

// The tree of scikit-learn 1.2's RandomForestRegressor with max_depth 20, min_samples_split 5 and
// min_samples_leaf 2 (distinct drawn rows), squared error. Equally good splits of the two features,
// which the original breaks at random, go to the first feature. `rows`: at least one, weights > 0.
RegressionTree grow_tree(std::vector<TreeRow> rows);

// The largest whole number that a node sends to `low`, for 1 <= threshold < 2^62. Features are
// compared as float32, to which whole numbers above 2^24 are rounded.
std::int64_t last_whole_number_below(double threshold);

}  // namespace pw
