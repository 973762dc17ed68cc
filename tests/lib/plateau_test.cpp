#include "model/plateau.h"

#include <vector>

#include <gtest/gtest.h>

namespace pw {
namespace {

// Traces worked out by hand from the rules: better means loss < best * (1 - 1e-4); the rate drops
// when the bad epochs exceed the patience, and their counter then restarts.
TEST(PlateauSchedule, FollowsTraces) {
  struct Case {
    const char* what;
    double learning_rate, factor;
    std::int64_t patience;
    double min_learning_rate;
    std::vector<double> losses;
    std::vector<double> rates;
  };
  const Case cases[] = {
      {"falling loss keeps the rate", 1.0, 0.5, 0, 0.0, {4, 3, 2, 1}, {1, 1, 1, 1}},
      {"drops at the third bad epoch and again three later",
       1.0,
       0.5,
       2,
       0.0,
       {1, 1, 1, 1, 1, 1, 1},
       {1, 1, 1, 0.5, 0.5, 0.5, 0.25}},
      {"a better epoch restarts the counter",
       1.0,
       0.5,
       1,
       0.0,
       {1, 1, 0.9, 0.9, 0.9},
       {1, 1, 1, 1, 0.5}},
      {"better by less than the threshold is bad", 1.0, 0.5, 0, 0.0, {1, 0.99995}, {1, 0.5}},
      {"better by more than the threshold is good", 1.0, 0.5, 0, 0.0, {1, 0.9998}, {1, 1}},
      {"the best stays while losses creep down within the threshold",
       1.0,
       0.5,
       1,
       0.0,
       {1, 0.99995, 0.9999, 0.99985},
       {1, 1, 0.5, 0.5}},
      {"never below the smallest rate", 1.0, 0.5, 0, 0.4, {1, 1, 1, 1}, {1, 0.5, 0.4, 0.4}},
      {"changes up to 1e-8 are not applied", 1.5e-8, 0.5, 0, 0.0, {1, 1}, {1.5e-8, 1.5e-8}},
  };
  for (const Case& c : cases) {
    PlateauSchedule schedule(c.learning_rate, c.factor, c.patience, c.min_learning_rate);
    for (std::size_t epoch = 0; epoch < c.losses.size(); ++epoch) {
      EXPECT_DOUBLE_EQ(schedule.step(c.losses[epoch]), c.rates[epoch])
          << c.what << ", epoch " << epoch;
    }
  }
}

TEST(PlateauSchedule, PublishedPatienceDropsAtEpoch46OfNoProgress) {
  PlateauSchedule schedule(1e-3, 0.6, 45, 1e-6);
  schedule.step(0.5);
  for (int bad = 1; bad <= 45; ++bad) {
    EXPECT_DOUBLE_EQ(schedule.step(0.5), 1e-3) << bad;
  }
  EXPECT_DOUBLE_EQ(schedule.step(0.5), 6e-4);
}

}  // namespace
}  // namespace pw
