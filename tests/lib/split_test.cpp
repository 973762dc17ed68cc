#include "model/split.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace pw {
namespace {

// The first three seeds of the published forests: draw(MT19937(42), 2^31 - 2).
TEST(Draw, MatchesPublishedForestSeeds) {
  std::mt19937 generator(42);
  EXPECT_EQ(draw(generator, 2147483646u), 1608637542u);
  EXPECT_EQ(draw(generator, 2147483646u), 1273642419u);
  EXPECT_EQ(draw(generator, 2147483646u), 1935803228u);
}

TEST(Draw, CoversItsRangeAndNothingElse) {
  std::mt19937 generator(1);
  for (const std::uint32_t max : {0u, 1u, 5u, 8u}) {
    std::set<std::uint32_t> seen;
    for (int i = 0; i < 500; ++i) {
      seen.insert(draw(generator, max));
    }
    EXPECT_EQ(seen.size(), max + 1u);
    EXPECT_EQ(*seen.rbegin(), max);
  }
}

// numpy.random.RandomState(42).permutation(10), which the published rule describes.
TEST(SplitRows, MatchesPublishedPermutation) {
  const Split split = split_rows(10, 0.2, 42);
  EXPECT_EQ(split.validation, (std::vector<std::int64_t>{8, 1}));
  EXPECT_EQ(split.training, (std::vector<std::int64_t>{5, 0, 7, 2, 9, 4, 3, 6}));
}

TEST(SplitRows, RoundsTheValidationPartUp) {
  for (const auto& [rows, validation] : {std::pair{11, 3u}, {10, 2u}, {1, 1u}, {6, 2u}}) {
    const Split split = split_rows(rows, 0.2, 7);
    EXPECT_EQ(split.validation.size(), validation) << rows;
    EXPECT_EQ(split.training.size() + split.validation.size(), static_cast<std::size_t>(rows));
  }
}

std::vector<std::uint64_t> groups_of(std::size_t groups, std::size_t rows_each) {
  std::vector<std::uint64_t> group;
  for (std::size_t row = 0; row < groups * rows_each; ++row) {
    group.push_back(1000 + row % groups);
  }
  return group;
}

TEST(SplitGroups, KeepsGroupsWholeAndTakesJustEnough) {
  const std::vector<std::uint64_t> group = groups_of(50, 7);
  const Split split = split_groups(group, 0.2, 42);
  std::set<std::uint64_t> training, validation, both;
  for (const std::int64_t row : split.training) training.insert(group[std::size_t(row)]);
  for (const std::int64_t row : split.validation) validation.insert(group[std::size_t(row)]);
  std::set_intersection(training.begin(), training.end(), validation.begin(), validation.end(),
                        std::inserter(both, both.end()));
  EXPECT_TRUE(both.empty());
  EXPECT_EQ(split.validation.size(), 70u);
  EXPECT_EQ(split.training.size(), 280u);
}

TEST(SplitGroups, DependsOnTheSeedAlone) {
  const std::vector<std::uint64_t> group = groups_of(50, 3);
  EXPECT_EQ(split_groups(group, 0.2, 1).validation, split_groups(group, 0.2, 1).validation);
  EXPECT_NE(split_groups(group, 0.2, 1).validation, split_groups(group, 0.2, 2).validation);
}

TEST(SplitGroups, IgnoresWhatTheGroupsAreCalled) {
  std::vector<std::uint64_t> group = groups_of(20, 2);
  const Split split = split_groups(group, 0.3, 5);
  for (std::uint64_t& name : group) {
    name = name * 7919 + 3;
  }
  EXPECT_EQ(split_groups(group, 0.3, 5).validation, split.validation);
}

TEST(SplitGroups, OneGroupLeavesNothingToTrainOn) {
  const Split split = split_groups(groups_of(1, 5), 0.2, 42);
  EXPECT_EQ(split.validation.size(), 5u);
  EXPECT_TRUE(split.training.empty());
}

}  // namespace
}  // namespace pw
