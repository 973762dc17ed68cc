#include "profile/sampling.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace pw {
namespace {

// A clock that tells `us(call number)` for each call.
template <class Function>
TimedCalls clock_of(Function us, std::int64_t& calls_made) {
  return [us, &calls_made](std::int64_t calls) {
    double sum = 0;
    for (std::int64_t i = 0; i < calls; ++i) {
      sum += us(calls_made++);
    }
    return sum;
  };
}

TEST(Sampling, ASteadyKernelNeedsOneRound) {
  std::int64_t calls = 0;
  const Measurement m = measure(clock_of([](std::int64_t) { return 40.0; }, calls), {});
  EXPECT_DOUBLE_EQ(m.median_us, 40);
  EXPECT_DOUBLE_EQ(m.spread, 0);
  EXPECT_EQ(m.rounds, 1);
  EXPECT_EQ(m.samples, SamplingOptions{}.most_samples);
}

TEST(Sampling, WarmUpIsNotCounted) {
  std::int64_t calls = 0;
  const Measurement m =
      measure(clock_of([](std::int64_t call) { return call < 100 ? 5e3 : 1e3; }, calls), {});
  EXPECT_DOUBLE_EQ(m.median_us, 5e3) << "10 ms of warm-up are over after a few calls of 5 ms";
  calls = 0;
  SamplingOptions longer;
  longer.warm_up_us = 600e3;
  EXPECT_DOUBLE_EQ(
      measure(clock_of([](std::int64_t call) { return call < 100 ? 5e3 : 1e3; }, calls), longer)
          .median_us,
      1e3);
}

TEST(Sampling, TheMedianIgnoresStallsAndTheSpreadDoesNot) {
  std::int64_t calls = 0;
  // Every third call stalls: quartiles differ.
  const Measurement m =
      measure(clock_of([](std::int64_t call) { return call % 3 == 0 ? 9e3 : 1e3; }, calls), {});
  EXPECT_DOUBLE_EQ(m.median_us, 1e3);
  EXPECT_GT(m.spread, 1);
  EXPECT_EQ(m.rounds, SamplingOptions{}.most_rounds) << "an outlier is measured again";
}

TEST(Sampling, TheQuietestRoundIsKept) {
  std::int64_t calls = 0;
  SamplingOptions options;
  options.warm_up_us = 0;
  options.least_sample_us = 1;
  options.least_samples = options.most_samples = 8;
  // 2 calls of warm-up, a round of 8 that is disturbed, then peace.
  const Measurement m = measure(
      clock_of([](std::int64_t call) { return call < 10 && call % 2 == 0 ? 400.0 : 200.0; }, calls),
      options);
  EXPECT_EQ(m.rounds, 2);
  EXPECT_DOUBLE_EQ(m.median_us, 200);
  EXPECT_DOUBLE_EQ(m.spread, 0);
}

TEST(Sampling, ABrokenClockIsAnError) {
  EXPECT_THAT(error_of([] { measure([](std::int64_t) { return -1.0; }, {}); }),
              testing::HasSubstr("the clock told"));
  SamplingOptions options;
  options.warm_up_us = 0;
  EXPECT_THAT(error_of([&] { measure([](std::int64_t) { return 0.0; }, options); }),
              testing::HasSubstr("resolution"));
}

}  // namespace
}  // namespace pw
