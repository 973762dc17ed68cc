#include "pw/collective_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "regression_tree.h"

namespace pw {
namespace {

constexpr std::size_t kTrees = 100;
constexpr std::uint32_t kSeed = 42;
constexpr int kSizeFeature = 0;
constexpr int kWorkersFeature = 1;

// A number of 0..max: the first masked output that is none too large.
std::uint32_t draw(std::mt19937& generator, std::uint32_t max) {
  std::uint32_t mask = max;
  for (int shift = 1; shift < 32; shift *= 2) {
    mask |= mask >> shift;
  }
  std::uint32_t value = 0;
  do {
    value = static_cast<std::uint32_t>(generator()) & mask;
  } while (value > max);
  return value;
}

RegressionTree grow_bootstrapped(const std::vector<TreeRow>& rows, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<int> drawn(rows.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++drawn[draw(generator, static_cast<std::uint32_t>(rows.size() - 1))];
  }
  std::vector<TreeRow> sample;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (drawn[i] > 0) {
      sample.push_back(rows[i]);
      sample.back().weight = drawn[i];
    }
  }
  return grow_tree(std::move(sample));
}

std::vector<RegressionTree> grow_forest(const std::vector<CollectiveSample>& samples) {
  std::vector<TreeRow> rows;
  for (const CollectiveSample& sample : samples) {
    // Milliseconds, as in the original: its limit on the variance of a node is absolute.
    rows.push_back({{static_cast<float>(sample.bytes), static_cast<float>(sample.workers)},
                    sample.duration_us / 1e3,
                    0});
  }
  std::mt19937 generator(kSeed);
  std::vector<RegressionTree> trees;
  for (std::size_t i = 0; i < kTrees; ++i) {
    const std::uint32_t seed = draw(generator, std::numeric_limits<std::int32_t>::max() - 1);
    trees.push_back(grow_bootstrapped(rows, seed));
  }
  return trees;
}

// One tree for one worker count: the last size of each step and its value.
struct Step {
  std::int64_t bytes_up_to;
  double value;
};
void collect_steps(const RegressionTree& tree, std::size_t index, std::int64_t workers,
                   std::int64_t bytes_up_to, std::vector<Step>& steps) {
  const TreeNode& node = tree[index];
  if (node.feature == kSizeFeature) {
    collect_steps(tree, node.low, workers, last_whole_number_below(node.threshold), steps);
    collect_steps(tree, node.high, workers, bytes_up_to, steps);
  } else if (node.feature == kWorkersFeature) {
    const bool low = workers <= last_whole_number_below(node.threshold);
    collect_steps(tree, low ? node.low : node.high, workers, bytes_up_to, steps);
  } else {
    steps.push_back({bytes_up_to, node.value});
  }
}

ForestSteps merged_steps(const std::vector<RegressionTree>& trees, std::int64_t workers) {
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  std::vector<std::vector<Step>> all(trees.size());
  std::set<std::int64_t> ends;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    collect_steps(trees[i], 0, workers, kNoEnd, all[i]);
    for (const Step& step : all[i]) {
      ends.insert(step.bytes_up_to);
    }
  }
  ForestSteps merged;
  std::vector<std::size_t> at(trees.size(), 0);
  for (const std::int64_t end : ends) {
    double sum_ms = 0;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      while (all[i][at[i]].bytes_up_to < end) {
        ++at[i];
      }
      sum_ms += all[i][at[i]].value;
    }
    merged.duration_us.push_back(1e3 * (sum_ms / static_cast<double>(trees.size())));
    if (end != kNoEnd) {
      merged.bytes_up_to.push_back(end);
    }
  }
  return merged;
}

}  // namespace

double evaluate(const CollectiveForest& forest, std::int64_t bytes, std::int64_t workers) {
  const ForestSteps& steps = std::prev(forest.steps_from_workers.upper_bound(workers))->second;
  const auto step = std::lower_bound(steps.bytes_up_to.begin(), steps.bytes_up_to.end(), bytes);
  return steps.duration_us[static_cast<std::size_t>(step - steps.bytes_up_to.begin())];
}

CollectiveForest fit_forest(const std::vector<CollectiveSample>& samples) {
  const std::vector<RegressionTree> trees = grow_forest(samples);
  CollectiveForest forest;
  std::set<std::int64_t> first_workers{1};
  for (const RegressionTree& tree : trees) {
    for (const TreeNode& node : tree) {
      if (node.feature == kWorkersFeature) {
        first_workers.insert(last_whole_number_below(node.threshold) + 1);
      }
    }
  }
  for (const std::int64_t workers : first_workers) {
    forest.steps_from_workers.emplace(workers, merged_steps(trees, workers));
  }
  std::set<std::int64_t> workers;
  for (const CollectiveSample& sample : samples) {
    workers.insert(sample.workers);
    forest.largest_bytes = std::max(forest.largest_bytes, sample.bytes);
  }
  forest.workers.assign(workers.begin(), workers.end());
  forest.rows = static_cast<std::int64_t>(samples.size());
  return forest;
}

}  // namespace pw
