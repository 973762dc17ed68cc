// Features of the fused expert block against those of the Python prototype that the public
// reference describes (spec/moe.md section 3.2), on GPU facts of its own.

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "pw/expert_block.h"
#include "support/reference.h"

namespace pw {
namespace {

constexpr double kTolerance = 1e-4;

// SMs; TFLOPS of bf16, fp8, fp4; GB/s of DRAM and L2; MB of L2 (1e6 bytes):
// spec/prototype/specs.py.
ExpertBlockRates gpu(double sms, double bf16, double fp8, double fp4, double dram, double l2_rate,
                     double l2_size) {
  ExpertBlockRates rates;
  rates.sms = sms;
  rates.bf16_ops_per_us = bf16 * 1e6;
  rates.fp8_ops_per_us = fp8 * 1e6;
  rates.fp4_ops_per_us = fp4 * 1e6;
  rates.dram_bytes_per_us = dram * 1e3;
  rates.l2_bytes_per_us = l2_rate * 1e3;
  rates.l2_bytes = l2_size * 1e6;
  return rates;
}

const ExpertBlockRates& golden_rates(const std::string& system) {
  static const std::map<std::string, ExpertBlockRates> gpus = {
      {"a100_sxm", gpu(108, 312, 0, 0, 2039, 5120, 40)},
      {"h100_sxm", gpu(132, 989, 1979, 0, 3352, 10403, 50)},
      {"h200_sxm", gpu(132, 989, 1979, 0, 4917, 10403, 50)},
      {"l40s", gpu(142, 362, 733, 0, 864, 5720, 96)},
      {"rtx_pro_6000_server", gpu(188, 450, 901, 1802, 1792, 7444, 128)},
      {"b200_sxm", gpu(148, 2250, 4500, 9000, 7672, 15436, 126)},
      {"b300_sxm", gpu(148, 2250, 4500, 14000, 7750, 15436, 126)},
      {"gb200", gpu(152, 2500, 5000, 10000, 8000, 15436, 126)},
      {"gb300", gpu(152, 2500, 5000, 15000, 8000, 15436, 126)},
  };
  return gpus.at(system);
}

// The file has no column for it: these (hidden, intermediate), of Nemotron, are not gated.
bool is_gated(std::int64_t hidden, std::int64_t intermediate) {
  static const std::set<std::pair<std::int64_t, std::int64_t>> not_gated = {
      {2688, 1856}, {8192, 5120}, {2048, 5120}, {4096, 2688}, {1024, 2688}};
  return not_gated.count({hidden, intermediate}) == 0;
}

ExpertBlockConfig config_of(const CsvRow& row) {
  ExpertBlockConfig block;
  block.type = parse_expert_type(row.text("moe_dtype"), row.where("moe_dtype"));
  block.rows = row.integer("num_tokens");
  block.experts = row.integer("num_experts");
  block.top_k = row.integer("topk");
  block.hidden = row.integer("hidden_size");
  block.intermediate = row.integer("inter_size");
  block.tensor_parallel = row.integer("moe_tp_size");
  block.expert_parallel = row.integer("moe_ep_size");
  block.gated = is_gated(block.hidden, block.intermediate);
  block.routing = parse_expert_routing(row.text("distribution"), row.where("distribution"));
  block.routing.grouped = row.integer("grp") != 0;
  return block;
}

// tokens, experts, top_k, ep, distribution, grouped
using RoutingKey =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string, bool>;

// Means over draws with two decimals. The sum of the draws is an integer, which gives the exact
// mean back.
RoutingStatistics exact_statistics(const CsvRow& row) {
  const bool few_tokens = row.integer("M") <= 2048;
  int draws = row.integer("grouped_router") != 0 ? (few_tokens ? 4 : 2) : (few_tokens ? 6 : 3);
  if (row.text("distribution") == "balanced") draws = 1;
  const auto exact = [&](const std::string& name) {
    return std::round(row.number(name) * draws) / draws;
  };
  RoutingStatistics s;
  s.rows = exact("slots_on_rank");
  s.experts_hit = exact("experts_hit");
  s.largest = exact("largest_count");
  s.tokens = exact("tokens_on_rank");
  for (std::size_t i = 0; i < s.padded.size(); ++i) {
    s.padded[i] = exact("padded_" + std::to_string(RoutingStatistics::kBlocks[i]));
  }
  return s;
}

std::map<RoutingKey, RoutingStatistics> known_statistics(const CsvTable& csv) {
  std::map<RoutingKey, RoutingStatistics> known;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const CsvRow row(csv, i);
    known[{row.integer("M"), row.integer("E"), row.integer("topk"), row.integer("ep"),
           row.text("distribution"), row.integer("grouped_router") != 0}] = exact_statistics(row);
  }
  return known;
}

std::map<std::string, double> features_of(const ExpertBlockConfig& block,
                                          const RoutingStatistics& statistics,
                                          const ExpertBlockRates& rates) {
  const RatioFeatures found = ratios(block, statistics, rates);
  const RatioNames& names = ratio_names(static_cast<const ExpertBlockConfig*>(nullptr));
  EXPECT_EQ(names.size(), found.values.size());
  std::map<std::string, double> features;
  for (std::size_t i = 0; i < names.size(); ++i) {
    features[std::string(names[i])] = found.values[i];
  }
  return features;
}

TEST(ExpertBlockGolden, FeaturesOfBalancedAndDrawnRouting) {
  PW_REFERENCE_OR_SKIP(reference);
  const auto known = known_statistics(CsvTable::read(reference / "data/moe_routing_stats.csv"));
  const CsvTable csv = CsvTable::read(reference / "golden/golden_moe_features.csv");
  int balanced = 0, drawn = 0, other = 0;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const CsvRow row(csv, i);
    const ExpertBlockConfig block = config_of(row);
    const ExpertBlockRates& rates = golden_rates(row.text("sys"));
    const auto expect = [&](const std::string& name, double found) {
      EXPECT_NEAR(found, row.number(name), kTolerance) << name << " in line " << csv.line(i);
    };
    const auto statistics =
        known.find({block.rows, block.experts, block.top_k, block.expert_parallel,
                    row.text("distribution"), block.routing.grouped});
    if (block.routing.distribution == ExpertDistribution::balanced || statistics != known.end()) {
      const bool is_balanced = block.routing.distribution == ExpertDistribution::balanced;
      ++(is_balanced ? balanced : drawn);
      const RoutingStatistics known_or_own =
          is_balanced ? routing_statistics(block) : statistics->second;
      for (const auto& [name, value] : features_of(block, known_or_own, rates)) {
        expect(name, value);
      }
      EXPECT_NEAR(std::log(ratios(block, known_or_own, rates).bound_us),
                  std::log(row.number("bound_us")), kTolerance);
      continue;
    }
    // Another draw: what does not depend on it, alone or with the bound multiplied out.
    ++other;
    const auto features = features_of(
        block,
        balanced_statistics({block.rows, block.experts, block.top_k, block.expert_parallel}, false),
        rates);
    for (const char* name :
         {"Ba", "fill", "i64", "i128", "i256", "h256", "El", "H", "I", "k", "T", "E", "gate"}) {
      expect(name, features.at(name));
    }
    for (const char* name : {"af", "route"}) {
      EXPECT_NEAR(features.at(name) + features.at("abs"), row.number(name) + row.number("abs"),
                  kTolerance)
          << name << " in line " << csv.line(i);
    }
  }
  EXPECT_EQ(balanced, 153);
  EXPECT_EQ(drawn, 45);
  EXPECT_EQ(other, 202);
}

TEST(ExpertBlockGolden, BalancedStatistics) {
  PW_REFERENCE_OR_SKIP(reference);
  const CsvTable csv = CsvTable::read(reference / "data/moe_routing_stats.csv");
  int compared = 0;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const CsvRow row(csv, i);
    if (row.text("distribution") != "balanced") continue;
    const RoutingStatistics ours = balanced_statistics(
        {row.integer("M"), row.integer("E"), row.integer("topk"), row.integer("ep")},
        row.integer("grouped_router") != 0);
    const RoutingStatistics expected = exact_statistics(row);
    ASSERT_EQ(ours.rows, expected.rows) << csv.line(i);
    ASSERT_EQ(ours.experts_hit, expected.experts_hit) << csv.line(i);
    ASSERT_EQ(ours.largest, expected.largest) << csv.line(i);
    ASSERT_EQ(ours.tokens, expected.tokens) << csv.line(i);
    ASSERT_EQ(ours.padded, expected.padded) << csv.line(i);
    ++compared;
  }
  EXPECT_EQ(compared, 1098);
}

}  // namespace
}  // namespace pw
