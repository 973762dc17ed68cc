#include "model/split.h"

#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace pw {
namespace {

std::int64_t validation_rows(std::int64_t rows, double fraction) {
  return static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(rows)));
}

std::mt19937 seeded(std::int64_t seed) { return std::mt19937(static_cast<std::uint32_t>(seed)); }

}  // namespace

std::uint32_t draw(std::mt19937& generator, std::uint32_t max) {
  std::uint32_t mask = max;
  for (int shift = 1; shift < 32; shift *= 2) {
    mask |= mask >> shift;
  }
  for (;;) {
    const auto value = static_cast<std::uint32_t>(generator()) & mask;
    if (value <= max) {
      return value;
    }
  }
}

void shuffle(std::vector<std::int64_t>& values, std::mt19937& generator) {
  for (std::size_t i = values.size(); i-- > 1;) {
    std::swap(values[i], values[draw(generator, static_cast<std::uint32_t>(i))]);
  }
}

Split split_rows(std::int64_t rows, double fraction, std::int64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator = seeded(seed);
  shuffle(order, generator);
  const auto middle = order.begin() + validation_rows(rows, fraction);
  return {{middle, order.end()}, {order.begin(), middle}};
}

Split split_groups(const std::vector<std::uint64_t>& group_of_row, double fraction,
                   std::int64_t seed) {
  std::unordered_map<std::uint64_t, std::size_t> number_of_group;  // by first appearance
  std::vector<std::int64_t> rows_of_group;
  std::vector<std::size_t> group(group_of_row.size());
  for (std::size_t row = 0; row < group_of_row.size(); ++row) {
    group[row] = number_of_group.try_emplace(group_of_row[row], rows_of_group.size()).first->second;
    if (group[row] == rows_of_group.size()) {
      rows_of_group.push_back(0);
    }
    ++rows_of_group[group[row]];
  }
  std::vector<std::int64_t> order(rows_of_group.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator = seeded(seed);
  shuffle(order, generator);

  const std::int64_t wanted = validation_rows(static_cast<std::int64_t>(group.size()), fraction);
  std::vector<bool> validates(rows_of_group.size(), false);
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < order.size() && taken < wanted; ++i) {
    const auto chosen = static_cast<std::size_t>(order[i]);
    validates[chosen] = true;
    taken += rows_of_group[chosen];
  }
  Split split;
  for (std::size_t row = 0; row < group.size(); ++row) {
    (validates[group[row]] ? split.validation : split.training)
        .push_back(static_cast<std::int64_t>(row));
  }
  return split;
}

Split split_groups_of(const std::vector<std::uint64_t>& group_of_row,
                      const std::vector<std::int64_t>& rows, double fraction, std::int64_t seed) {
  std::vector<std::uint64_t> groups;
  for (const std::int64_t row : rows) {
    groups.push_back(group_of_row[static_cast<std::size_t>(row)]);
  }
  Split split = split_groups(groups, fraction, seed);
  for (auto* part : {&split.training, &split.validation}) {
    for (std::int64_t& row : *part) {
      row = rows[static_cast<std::size_t>(row)];
    }
  }
  return split;
}

}  // namespace pw
