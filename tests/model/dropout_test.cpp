#include "model/dropout.h"

#include <gtest/gtest.h>

namespace pw {
namespace {

TEST(FastDropout, DropsItsShareAndKeepsTheMean) {
  FastDropout dropout(0.1, 42);
  const torch::Tensor ones = torch::ones({1000, 333});
  const torch::Tensor x = dropout(ones);
  const double kept = (x > 0).to(torch::kFloat32).mean().item<double>();
  EXPECT_NEAR(kept, 0.9, 0.002);
  EXPECT_NEAR(x.mean().item<double>(), 1.0, 0.002);
  EXPECT_NEAR(x.max().item<double>(), 1 / 0.9, 1e-4);
}

TEST(FastDropout, RepeatsWithTheSeedAndChangesWithEachCall) {
  FastDropout first(0.5, 7), second(0.5, 7), other(0.5, 8);
  const torch::Tensor ones = torch::ones({100});
  const torch::Tensor x = first(ones);
  EXPECT_TRUE(torch::equal(x, second(ones)));
  EXPECT_FALSE(torch::equal(x, other(ones)));
  EXPECT_FALSE(torch::equal(x, first(ones)));
}

// Checkpoints depend on it: 16 bits of SplitMix64 for each value, the lowest first.
TEST(FastDropout, MasksAreThoseOfThePlainGenerator) {
  FastDropout dropout(0.25, 9);
  std::uint64_t state = 9;
  for (const std::int64_t count : {203, 1, 64}) {  // a rest is thrown away
    const torch::Tensor x = dropout(torch::ones({count}));
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < count; ++i, bits >>= 16) {
      if (i % 4 == 0) {
        state += 0x9e3779b97f4a7c15u;
        bits = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
        bits ^= bits >> 31;
      }
      EXPECT_EQ(x[i].item<float>() > 0, (bits & 0xffff) >= 16384) << count << " " << i;
    }
  }
  EXPECT_EQ(dropout.state(), state);
}

TEST(FastDropout, RateZeroChangesNothing) {
  FastDropout dropout(0, 1);
  const torch::Tensor x = torch::arange(10);
  EXPECT_TRUE(torch::equal(dropout(x), x));
}

TEST(FastDropout, GradientFlowsThroughTheKeptValuesOnly) {
  FastDropout dropout(0.5, 3);
  const torch::Tensor x = torch::ones({64}, torch::requires_grad());
  const torch::Tensor y = dropout(x);
  y.sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), y.detach()));
}

}  // namespace
}  // namespace pw
