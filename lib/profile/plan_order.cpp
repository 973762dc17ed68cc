#include <cmath>
#include <cstdint>

#include "pw/profile_plan.h"

namespace pw {
namespace {

// The positive root of x^(d+1) = x + 1. Its powers are the steps of a sequence of low discrepancy
// in d dimensions, as the golden ratio is for one (M. Roberts, "The unreasonable effectiveness of
// quasirandom sequences", 2018).
double generalised_golden_ratio(std::size_t dimensions) {
  double root = 1.5;
  for (int i = 0; i < 50; ++i) {
    root = std::pow(1 + root, 1 / static_cast<double>(dimensions + 1));
  }
  return root;
}

std::size_t product(const std::vector<std::size_t>& extents) {
  std::size_t points = 1;
  for (const std::size_t extent : extents) {
    points *= extent;
  }
  return points;
}

}  // namespace

std::vector<std::size_t> space_filling_order(const std::vector<std::size_t>& extents) {
  const std::size_t points = product(extents);
  // The sequence needs a few times `points` draws to meet every cell; the rest follows in order.
  const std::size_t draws = 16 * points;
  const double ratio = generalised_golden_ratio(extents.size());
  std::vector<double> step(extents.size());
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    step[axis] = std::pow(ratio, -static_cast<double>(axis + 1));
  }
  std::vector<bool> seen(points, false);
  std::vector<std::size_t> order;
  order.reserve(points);
  const auto add = [&](std::size_t point) {
    if (!seen[point]) {
      seen[point] = true;
      order.push_back(point);
    }
  };
  for (std::size_t draw = 1; draw <= draws && order.size() < points; ++draw) {
    std::size_t point = 0;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const double place = std::fmod(0.5 + static_cast<double>(draw) * step[axis], 1.0);
      point = point * extents[axis] +
              static_cast<std::size_t>(place * static_cast<double>(extents[axis]));
    }
    add(point);
  }
  for (std::size_t point = 0; point < points; ++point) {
    add(point);
  }
  return order;
}

}  // namespace pw
