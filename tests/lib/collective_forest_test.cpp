#include "pw/collective_forest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pw {
namespace {

using ::testing::ElementsAre;

TEST(CollectiveForest, AnswersInStepsOfSizeAndWorkers) {
  CollectiveForest forest;
  forest.steps_from_workers = {{1, {{1000, 2000}, {1, 2, 3}}}, {6, {{}, {10}}}};
  const struct {
    std::int64_t bytes, workers;
    double duration_us;
  } cases[] = {{1, 1, 1},    {1000, 5, 1}, {1001, 2, 2},   {2000, 2, 2},
               {2001, 2, 3}, {1, 6, 10},   {9'000, 99, 10}};
  for (const auto& c : cases) {
    EXPECT_EQ(evaluate(forest, c.bytes, c.workers), c.duration_us) << c.bytes << ' ' << c.workers;
  }
}

TEST(CollectiveForest, OfOneSampleIsItsDuration) {
  const CollectiveForest forest = fit_forest({{5000, 4, 12.5}});
  EXPECT_EQ(forest.rows, 1);
  EXPECT_EQ(forest.largest_bytes, 5000);
  EXPECT_THAT(forest.workers, ElementsAre(4));
  for (const std::int64_t bytes : {1, 5000, 100'000}) {
    EXPECT_NEAR(evaluate(forest, bytes, 2), 12.5, 1e-12);
  }
}

// 30 sizes on 2 and on 8 workers, duration 1 ms and 9 ms per 1000 bytes.
std::vector<CollectiveSample> grid() {
  std::vector<CollectiveSample> samples;
  for (std::int64_t i = 1; i <= 30; ++i) {
    for (const std::int64_t workers : {8, 2}) {
      samples.push_back({i * 1000, workers, (workers == 8 ? 9e3 : 1e3) * static_cast<double>(i)});
    }
  }
  return samples;
}

TEST(CollectiveForest, SplitsWorkersHalfWay) {
  const CollectiveForest forest = fit_forest(grid());
  ASSERT_EQ(forest.steps_from_workers.size(), 2U);
  EXPECT_EQ(forest.steps_from_workers.rbegin()->first, 6);  // 5 goes with 2 workers
  EXPECT_THAT(forest.workers, ElementsAre(2, 8));
  for (const std::int64_t bytes : {1, 1000, 15'600, 30'000, 1'000'000}) {
    EXPECT_EQ(evaluate(forest, bytes, 5), evaluate(forest, bytes, 1));
    EXPECT_EQ(evaluate(forest, bytes, 6), evaluate(forest, bytes, 100));
    EXPECT_GT(evaluate(forest, bytes, 6), 2 * evaluate(forest, bytes, 5));
  }
}

TEST(CollectiveForest, FollowsTheDataAndIsConstantBeyondThem) {
  const CollectiveForest forest = fit_forest(grid());
  double previous_us = 0;
  for (std::int64_t bytes = 5000; bytes <= 25'000; bytes += 1000) {
    const double us = evaluate(forest, bytes, 2);
    EXPECT_NEAR(us, static_cast<double>(bytes), 1500);
    EXPECT_GT(us, previous_us);
    previous_us = us;
  }
  EXPECT_GE(evaluate(forest, 1, 2), 1e3);
  EXPECT_LE(evaluate(forest, 30'000, 8), 9 * 30e3);
  EXPECT_EQ(evaluate(forest, 1'000'000'000, 2), evaluate(forest, 30'000, 2));
}

TEST(CollectiveForest, IsTheSameEveryTime) {
  const CollectiveForest first = fit_forest(grid()), second = fit_forest(grid());
  for (std::int64_t bytes = 500; bytes <= 31'000; bytes += 250) {
    EXPECT_EQ(evaluate(first, bytes, 8), evaluate(second, bytes, 8));
  }
}

}  // namespace
}  // namespace pw
