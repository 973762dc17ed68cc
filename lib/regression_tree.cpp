#include "regression_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pw {
namespace {

constexpr int kMaxDepth = 20;
constexpr std::ptrdiff_t kMinRowsToSplit = 5;
constexpr std::ptrdiff_t kMinRowsInLeaf = 2;
constexpr double kPureVariance = std::numeric_limits<double>::epsilon();
constexpr float kSameFeature = 1e-7f;  // values closer than this are never separated

using Rows = std::vector<TreeRow>;
using Iterator = Rows::iterator;

struct Sums {
  double weight = 0, y = 0, y_squared = 0;
};

Sums sums_of(Iterator begin, Iterator end) {
  Sums sums;
  for (Iterator row = begin; row != end; ++row) {
    sums.weight += row->weight;
    sums.y += row->weight * row->y;
    sums.y_squared += row->weight * row->y * row->y;
  }
  return sums;
}

struct Split {
  int feature = -1;
  double threshold = 0;
  double gain = -std::numeric_limits<double>::infinity();
};

// The best boundary between rows that are sorted by `feature`, if it beats `best`.
void improve_split(Iterator begin, Iterator end, int feature, const Sums& all, Split& best) {
  const auto f = static_cast<std::size_t>(feature);
  double weight = 0, y = 0;
  for (Iterator row = begin; end - row > kMinRowsInLeaf; ++row) {
    weight += row->weight;
    y += row->weight * row->y;
    const float low = row->x[f];
    const float high = (row + 1)->x[f];
    if (row - begin + 1 < kMinRowsInLeaf || high <= low + kSameFeature) {
      continue;
    }
    const double rest = all.y - y;
    const double gain = y * y / weight + rest * rest / (all.weight - weight);
    if (gain > best.gain) {
      best = {feature, static_cast<double>(low) / 2 + static_cast<double>(high) / 2, gain};
    }
  }
}

// `begin` to `end` are sorted by the first feature.
Split best_split(Iterator begin, Iterator end, const Sums& all) {
  Split best;
  improve_split(begin, end, 0, all, best);
  const auto second = [](const TreeRow& a, const TreeRow& b) { return a.x[1] < b.x[1]; };
  const auto [low, high] = std::minmax_element(begin, end, second);
  if (low->x[1] < high->x[1]) {
    Rows sorted(begin, end);
    std::stable_sort(sorted.begin(), sorted.end(), second);
    improve_split(sorted.begin(), sorted.end(), 1, all, best);
  }
  return best;
}

std::size_t grow(RegressionTree& tree, Iterator begin, Iterator end, int depth) {
  const std::size_t node = tree.size();
  const Sums all = sums_of(begin, end);
  tree.emplace_back().value = all.y / all.weight;
  const double variance = all.y_squared / all.weight - tree[node].value * tree[node].value;
  if (depth == kMaxDepth || end - begin < kMinRowsToSplit || variance <= kPureVariance) {
    return node;
  }
  const Split split = best_split(begin, end, all);
  if (split.feature < 0) {
    return node;
  }
  // Stable, so that both parts stay sorted by the first feature.
  const Iterator middle = std::stable_partition(begin, end, [&](const TreeRow& row) {
    return row.x[static_cast<std::size_t>(split.feature)] <= split.threshold;
  });
  const std::size_t low = grow(tree, begin, middle, depth + 1);
  const std::size_t high = grow(tree, middle, end, depth + 1);
  tree[node] = {split.feature, split.threshold, low, high, tree[node].value};
  return node;
}

}  // namespace

RegressionTree grow_tree(std::vector<TreeRow> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TreeRow& a, const TreeRow& b) { return a.x[0] < b.x[0]; });
  RegressionTree tree;
  grow(tree, rows.begin(), rows.end(), 0);
  return tree;
}

std::int64_t last_whole_number_below(double threshold) {
  auto last = static_cast<float>(threshold);
  if (static_cast<double>(last) > threshold) {
    last = std::nextafter(last, 0.0f);
  }
  const float next = std::nextafter(last, std::numeric_limits<float>::infinity());
  // Numbers up to the middle between two float32 round down; the middle itself to the even one.
  const double middle = (static_cast<double>(last) + static_cast<double>(next)) / 2;
  const auto number = static_cast<std::int64_t>(middle);
  return static_cast<float>(number) <= last ? number : number - 1;
}

}  // namespace pw
