#include "pw/expert_block.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/operators.h"
#include "support/error_of.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::HasSubstr;

// 4 tokens, each to 2 of 8 experts of width 32, half of it on the rank, hidden size 64.
ExpertBlockConfig small_block() {
  ExpertBlockConfig block;
  block.rows = 4;
  block.experts = 8;
  block.top_k = 2;
  block.hidden = 64;
  block.intermediate = 32;
  block.tensor_parallel = 2;
  return block;
}

TEST(ExpertBlock, NeedsTheWeightsOfTheExpertsHit) {
  // 8 rows through 64 x 16 x 3 weights; 8 experts of these in 2 bytes; 4 tokens read and written.
  const Work needed = work(small_block());
  EXPECT_EQ(needed.operations, 2.0 * 8 * 64 * 16 * 3);
  EXPECT_EQ(needed.bytes, 8.0 * 64 * 16 * 3 * 2 + 2 * 4 * 64 * 2);
  ExpertBlockConfig told = small_block();
  told.statistics = RoutingStatistics{6, 3, 4, 4, {}};
  EXPECT_EQ(work(told).operations, 2.0 * 6 * 64 * 16 * 3);
  EXPECT_EQ(work(told).bytes, 3.0 * 64 * 16 * 3 * 2 + 2 * 4 * 64 * 2);
}

TEST(ExpertBlock, IsAFamilyWithRatiosAlone) {
  const OperatorConfig config = small_block();
  EXPECT_EQ(describe(config), "expert_block bfloat16 M=4 E=8 topk=2 H=64 I=32 tp=2 ep=1 balanced");
  EXPECT_EQ(problem_cells(config).size(), operator_family(config).problem_columns.size());
  EXPECT_EQ(operator_ratios(config, test_ampere()).values.size(), 48u);
  EXPECT_THAT(error_of([&] { analyze_operator(config, test_ampere()); }),
              HasSubstr("'expert_block' has no pipeline features"));
}

// Uniform routing, simulated: each token's experts are drawn without replacement.
TEST(ExpertBlock, UniformStatisticsAreExpectedValues) {
  const RoutingProblem problem{200, 128, 8, 4};
  const RoutingStatistics expected = uniform_statistics(problem);
  std::mt19937_64 generator(7);
  std::vector<std::size_t> ids(128);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
  constexpr int kDraws = 500;
  double rows = 0, hit = 0, tokens = 0, padded = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<int> counts(32);
    for (int token = 0; token < 200; ++token) {
      bool on_rank = false;
      for (std::size_t j = 0; j < 8; ++j) {
        std::swap(ids[j], ids[j + generator() % (ids.size() - j)]);
        if (ids[j] >= counts.size()) continue;
        ++counts[ids[j]];
        on_rank = true;
      }
      tokens += on_rank ? 1.0 / kDraws : 0;
    }
    for (const int count : counts) {
      rows += static_cast<double>(count) / kDraws;
      hit += count > 0 ? 1.0 / kDraws : 0;
      padded += (count + 15) / 16 * 16.0 / kDraws;
    }
  }
  EXPECT_NEAR(expected.rows, rows, 0.01 * rows);
  EXPECT_NEAR(expected.experts_hit, hit, 0.01 * hit);
  EXPECT_NEAR(expected.tokens, tokens, 0.01 * tokens);
  EXPECT_NEAR(expected.padded_to(16), padded, 0.02 * padded);
}

// The more uneven the shares, the fewer experts a batch hits.
TEST(ExpertBlock, PowerLawsHitFewerExperts) {
  const RoutingProblem problem{64, 128, 8, 1};
  const RoutingStatistics even = uniform_statistics(problem);
  const RoutingStatistics uneven = power_law_statistics(problem, 1.2, false);
  EXPECT_LT(uneven.experts_hit, even.experts_hit);
  EXPECT_GT(uneven.largest, even.largest);
  EXPECT_DOUBLE_EQ(uneven.rows, 64 * 8);
  EXPECT_EQ(power_law_statistics(problem, 1.2, false).experts_hit, uneven.experts_hit);
}

TEST(ExpertBlock, RoutingIsReadAsItIsWritten) {
  for (const char* name : {"balanced", "uniform", "power_law_1.2"}) {
    EXPECT_EQ(to_string(parse_expert_routing(name, "x")), name);
  }
  for (const char* name : {"power_law_", "power_law_1.2_eplb", "power_law_-1", "even"}) {
    EXPECT_THAT(error_of([&] { parse_expert_routing(name, "x"); }),
                HasSubstr("expected balanced, uniform or power_law_ and an exponent above 0"));
  }
  EXPECT_THAT(error_of([] { parse_expert_type("fp16", "dtype"); }),
              HasSubstr("dtype is \"fp16\", expected one of bfloat16, fp8"));
}

TEST(ExpertBlock, WhatHasNoMeaningIsRefused) {
  const auto error = [](void (*spoil)(ExpertBlockConfig&)) {
    ExpertBlockConfig block = small_block();
    spoil(block);
    return error_of([&] { work(block); });
  };
  EXPECT_THAT(error([](ExpertBlockConfig& b) { b.top_k = 9; }), HasSubstr("topk <= E"));
  EXPECT_THAT(error([](ExpertBlockConfig& b) { b.tensor_parallel = 3; }),
              HasSubstr("I divisible by tp"));
  EXPECT_THAT(error([](ExpertBlockConfig& b) { b.expert_parallel = 3; }),
              HasSubstr("E divisible by ep"));
}

}  // namespace
}  // namespace pw
