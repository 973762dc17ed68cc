#include "pw/collective.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "statistics.h"
#include "support/error_of.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

std::string words(const CollectiveEstimate& estimate) {
  std::string text;
  for (const Fact& fact : estimate.facts) text += (text.empty() ? "" : "; ") + fact.sentence;
  return text;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<CollectiveSample> samples(const std::vector<std::pair<std::int64_t, double>>& points) {
  std::vector<CollectiveSample> result;
  for (const auto& [bytes, duration_us] : points) {
    result.push_back({bytes, 2, duration_us});
  }
  return result;
}

TEST(Statistics, MeanAndMedian) {
  EXPECT_EQ(mean({1, 2, 6}), 3);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 2}), 3.5);
}

TEST(Evaluate, IsLogLogLinearWithinAndAffineAbove) {
  const CollectiveCurve curve{{1e3, 1e5, 1e6}, {10, 40, 400}, 3};
  const struct {
    double bytes, duration_us;
  } cases[] = {
      {1, 10},        {1e3, 10},   {1e4, 20},  // half of the way in ln(bytes)
      {1e5, 40},      {2e5, 80},               // slope 1 between the last two knots
      {1e6, 400},     {3e6, 1200},             // and so also above the last
      {9e18, 3.6e15},
  };
  for (const auto& [bytes, duration_us] : cases) {
    EXPECT_NEAR(evaluate(curve, bytes), duration_us, 1e-12 * duration_us) << bytes;
  }
}

TEST(Evaluate, FurtherBytesCostWhatTheLastHalfDecadeCost) {
  // 30 us + bytes / (0.1 GB/s), with knots where the half decade begins and ends.
  const double begin = 1e6 / std::sqrt(10.0);
  const CollectiveCurve curve{{1e4, begin, 1e6}, {31, 30 + begin / 100, 10'030}, 3};
  EXPECT_NEAR(evaluate(curve, 2e6), 20'030, 1e-6);
  EXPECT_NEAR(evaluate(curve, 5e7), 500'030, 1e-4);
  // Too short to tell, and flat: in proportion to the size.
  EXPECT_EQ(evaluate({{500}, {7}, 1}, 499), 7);
  EXPECT_EQ(evaluate({{500}, {7}, 1}, 1000), 14);
  EXPECT_EQ(evaluate({{500, 1000}, {7, 8}, 1}, 2000), 16);
  EXPECT_EQ(evaluate({{100, 1000}, {7, 7}, 1}, 2000), 14);
}

TEST(FitCurve, TakesMeanLnSizeAndTheDurationOfLeastRelativeErrorOfABin) {
  // 1000 and 1020 share the bin [10^(288/96), 10^(289/96)) = [1000, 1024.3); 1025 is in the next.
  const CollectiveCurve curve =
      fit_curve(samples({{1000, 4}, {1020, 9}, {1000, 5}, {1020, 100}, {1025, 50}}));
  ASSERT_EQ(curve.bytes.size(), 2U);
  EXPECT_NEAR(curve.bytes[0], std::sqrt(1000.0 * 1020.0), 0.005);  // 6 digits are kept
  // Weights 1/4, 1/5, 1/9, 1/100: half of their sum, 0.286, is reached at the second.
  EXPECT_EQ(curve.duration_us[0], 5);
  EXPECT_EQ(curve.bytes[1], 1025);
  EXPECT_EQ(curve.duration_us[1], 50);
  EXPECT_EQ(curve.rows, 5);
}

TEST(FitCurve, PoolsViolators) {
  // The second bin lies below the first: of the rows 8, 8, 8, 2 the weights are 1/8, 1/8, 1/8, 1/2.
  const CollectiveCurve curve =
      fit_curve(samples({{1000, 8}, {1000, 8}, {1000, 8}, {2000, 2}, {4000, 16}}));
  EXPECT_THAT(curve.bytes, ElementsAre(1000, 2000, 4000));
  EXPECT_THAT(curve.duration_us, ElementsAre(2, 2, 16));
}

TEST(FitCurve, PoolsBackThroughEarlierPools) {
  const CollectiveCurve curve =
      fit_curve(samples({{1000, 8}, {2000, 16}, {4000, 16}, {8000, 0.5}}));
  EXPECT_THAT(curve.bytes, ElementsAre(1000, 8000));
  EXPECT_THAT(curve.duration_us, ElementsAre(0.5, 0.5));
}

double mean_relative_error(const std::vector<CollectiveSample>& data,
                           const std::vector<double>& levels) {
  double sum = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    sum += std::abs(levels[i] - data[i].duration_us) / data[i].duration_us;
  }
  return sum;
}

// No other non-decreasing choice of measured values is better: every one is tried.
TEST(FitCurve, HasTheLeastRelativeErrorOfAllMonotoneCurves) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<CollectiveSample> data;
    std::vector<double> candidates;
    for (std::int64_t i = 0; i < 6; ++i) {
      data.push_back({1000 << i, 2, 1 + static_cast<double>(random() % 20)});
      candidates.push_back(data.back().duration_us);
    }
    std::sort(candidates.begin(), candidates.end());
    double best = std::numeric_limits<double>::infinity();
    std::vector<double> levels(6);
    const std::function<void(std::size_t, std::size_t)> search = [&](std::size_t row,
                                                                     std::size_t lowest) {
      if (row == levels.size()) {
        best = std::min(best, mean_relative_error(data, levels));
        return;
      }
      for (std::size_t i = lowest; i < candidates.size(); ++i) {
        levels[row] = candidates[i];
        search(row + 1, i);
      }
    };
    search(0, 0);
    const CollectiveCurve curve = fit_curve(data);
    for (std::size_t i = 0; i < data.size(); ++i) {
      levels[i] = evaluate(curve, static_cast<double>(data[i].bytes));
    }
    EXPECT_NEAR(mean_relative_error(data, levels), best, 1e-9) << round;
  }
}

TEST(FitCurve, DropsKnotsOnAStraightLineOnly) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
    points.emplace_back(bytes, static_cast<double>(bytes) / 100);
  }
  EXPECT_THAT(fit_curve(samples(points)).bytes, ElementsAre(1024, 1.04858e6));
  points[5].second *= 1.0008;  // within 0.1 % of the line
  EXPECT_THAT(fit_curve(samples(points)).bytes, ElementsAre(1024, 1.04858e6));
  points[5].second *= 1.01;
  EXPECT_GT(fit_curve(samples(points)).bytes.size(), 2U);
}

TEST(FitCurve, KeepsOneKnotOfSizesThatRoundToTheSame) {
  // 10^(864/96) = 1e9 is a bin's edge.
  const CollectiveCurve curve = fit_curve(samples({{999'999'999, 10}, {1'000'000'000, 20}}));
  EXPECT_THAT(curve.bytes, ElementsAre(1e9));
}

const std::vector<CollectiveModel> kModels{
    {"GPU B", "all_reduce", {{8, {{1000, 1e6}, {50, 700}, 20}}}, "made up", "abc"},
    {"GPU A",
     "all_reduce",
     {{2, {{1000, 1e6}, {10, 100}, 30}}, {4, {{1000, 1e6}, {20, 300}, 40}}},
     "made up",
     "def"},
    {"GPU A", "send_recv", {{2, {{1000, 1e6}, {5, 80}, 10}}}, "made up", "012"},
    {"GPU B", "send_recv", {{4, {{1000}, {9}, 10}}}, "made up", "345"},
};

HardwareSpec gpu(const std::string& name) {
  HardwareSpec hardware;
  hardware.name = name;
  return hardware;
}

TEST(Estimate, UsesDataAndSaysWhatItSubstituted) {
  const CollectiveCatalog catalog(kModels);
  // On 4 workers: the last half decade, in which the duration rises by a factor of 15^(1/6), goes
  // on in a straight line.
  const double us_per_byte =
      300 * (1 - std::pow(15.0, -1.0 / 6)) / (1e6 * (1 - 1 / std::sqrt(10.0)));
  const double twice_us = 300 + 1e6 * us_per_byte;
  const struct {
    const char *gpu, *collective;
    std::int64_t bytes, workers;
    double duration_us;
    const char* note;
  } cases[] = {
      {"GPU A", "all_reduce", 1'000'000, 2, 100, ""},
      {"GPU A", "all_reduce", 1'000'000, 4, 300, ""},
      {"GPU A", "all_reduce", 100, 4, 20, ""},
      {"GPU A", "all_reduce", 1'020'000, 4, 300 + 2e4 * us_per_byte, ""},  // not worth a note
      {"GPU A", "all_reduce", 2'000'000, 4, twice_us,
       "all_reduce extrapolated from 1000000 to 2000000 bytes"},
      // 2(n-1)/n: 1 on 2 workers, 4/3 on 3, 3/2 on 4, 7/4 on 8.
      {"GPU A", "all_reduce", 1'000'000, 3, 300 * (4.0 / 3) / 1.5,
       "all_reduce on 3 workers taken from 4 measured workers, scaled by 2(n-1)/n"},
      {"GPU A", "all_reduce", 2'000'000, 8, twice_us * 1.75 / 1.5,
       "all_reduce extrapolated from 1000000 to 2000000 bytes; all_reduce on 8 workers taken from "
       "4 measured "
       "workers, scaled by 2(n-1)/n"},
      {"GPU B", "all_reduce", 1'000'000, 4, 700 * 1.5 / 1.75,
       "all_reduce on 4 workers taken from 8 measured workers, scaled by 2(n-1)/n"},
      {"GPU B", "all_reduce", 1'000'000, 1, 0,
       "all_reduce on one worker: nothing is communicated, 0 us"},
      {"GPU A", "send_recv", 1'000'000, 8, 80, ""},
      {"GPU A", "send_recv", 1'000'000, 1, 80, ""},
      {"GPU B", "send_recv", 1000, 8, 9, "send_recv on 2 workers taken from 4 measured workers"},
  };
  for (const auto& c : cases) {
    const CollectiveEstimate result =
        catalog.estimate(gpu(c.gpu), c.collective, c.bytes, c.workers);
    EXPECT_NEAR(result.duration_us, c.duration_us, 1e-12 * c.duration_us)
        << c.gpu << c.collective << c.bytes << ' ' << c.workers;
    EXPECT_EQ(words(result), c.note);
  }
}

TEST(Estimate, RefusesWhatHasNoMeaning) {
  const CollectiveCatalog catalog(kModels);
  const struct {
    const char* collective;
    std::int64_t bytes, workers;
    const char* message;
  } cases[] = {
      {"all_gather", 1000, 2,
       "collective 'all_gather' is unknown; expected all_reduce, custom_all_reduce or send_recv"},
      {"", 1000, 2, "collective '' is unknown"},
      {"all_reduce", 0, 2, "all_reduce: message size is 0 bytes"},
      {"send_recv", -5, 2, "send_recv: message size is -5 bytes"},
      {"all_reduce", 0, 1, "message size is 0 bytes"},
      {"all_reduce", 1000, 0, "number of workers is 0"},
      {"send_recv", 1000, -1, "number of workers is -1"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(error_of([&] { catalog.estimate(gpu("GPU A"), c.collective, c.bytes, c.workers); }),
                HasSubstr(c.message));
  }
}

TEST(Estimate, IsFiniteAndPositiveAtTheLimits) {
  const CollectiveCatalog catalog(kModels);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const char* name : {"GPU A", "GPU B", "GPU without data"}) {
    for (const char* collective : {"all_reduce", "send_recv"}) {
      for (const std::int64_t bytes : {std::int64_t{1}, kMost}) {
        for (const std::int64_t workers : {std::int64_t{2}, kMost}) {
          const double us = catalog.estimate(gpu(name), collective, bytes, workers).duration_us;
          EXPECT_TRUE(std::isfinite(us) && us > 0) << name << collective << bytes << workers;
        }
      }
    }
  }
}

CollectiveCatalog forest_catalog(WorkerRules rules) {
  CollectiveForest forest;
  forest.steps_from_workers = {{1, {{1000, 2000}, {1, 2, 3}}}, {6, {{1500}, {10, 20}}}};
  forest.workers = {4, 8};
  forest.largest_bytes = 5000;
  forest.rows = 9;
  CollectiveModel all_reduce{"GPU F", "all_reduce", {}, "made up", "abc", forest};
  CollectiveModel send_recv{"GPU F", "send_recv", {}, "made up", "def", forest};
  return CollectiveCatalog({all_reduce, send_recv, kModels[1]}, rules);
}

TEST(Estimate, OfAForestScalesUnmeasuredWorkersUnlessThePublishedRulesHold) {
  const struct {
    const char* collective;
    std::int64_t bytes, workers;
    double scaled_us, published_us;
    const char *scaled_note, *published_note;
  } cases[] = {
      {"all_reduce", 1000, 4, 1, 1, "", ""},
      {"all_reduce", 1001, 4, 2, 2, "", ""},
      {"all_reduce", 1501, 8, 20, 20, "", ""},
      {"all_reduce", 6000, 4, 3, 3, "constant beyond its largest size, 5000 bytes",
       "constant beyond its largest size, 5000 bytes"},
      {"all_reduce", 1000, 2, 1 * 1 / 1.5, 1, "on 2 workers taken from 4", ""},
      {"all_reduce", 1000, 6, 10 * (5.0 / 3) / 1.75, 10, "on 6 workers taken from 8", ""},
      {"all_reduce", 1000, 1, 0, 1, "nothing is communicated", ""},
      {"send_recv", 1000, 8, 1, 10, "send_recv on 2 workers taken from 4", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.collective) + " of " + std::to_string(c.bytes) + " bytes on " +
                 std::to_string(c.workers));
    const auto ask = [&](WorkerRules rules) {
      return forest_catalog(rules).estimate(gpu("GPU F"), c.collective, c.bytes, c.workers);
    };
    EXPECT_DOUBLE_EQ(ask(WorkerRules::scaled).duration_us, c.scaled_us);
    EXPECT_DOUBLE_EQ(ask(WorkerRules::published).duration_us, c.published_us);
    EXPECT_THAT(words(ask(WorkerRules::scaled)), HasSubstr(c.scaled_note));
    EXPECT_THAT(words(ask(WorkerRules::published)), HasSubstr(c.published_note));
    EXPECT_EQ(ask(WorkerRules::published).facts.empty(), *c.published_note == '\0');
  }
  // Curves follow the same rules in both.
  for (const WorkerRules rules : {WorkerRules::scaled, WorkerRules::published}) {
    EXPECT_DOUBLE_EQ(
        forest_catalog(rules).estimate(gpu("GPU A"), "all_reduce", 1'000'000, 3).duration_us,
        300 * (4.0 / 3) / 1.5);
  }
}

TEST(BandwidthModel, FollowsTheLinkAndNamesIt) {
  const CollectiveCatalog catalog(kModels);
  HardwareSpec nvlink = gpu("GPU N");
  nvlink.interconnect = Interconnect::nvlink;
  nvlink.interconnect_gb_per_s = 400;
  const CollectiveEstimate fast = catalog.estimate(nvlink, "all_reduce", 1'000'000'000, 4);
  EXPECT_EQ(words(fast),
            "no measured all_reduce for GPU N: bandwidth model from its NVLink rate, 400 GB/s");
  // 1.5 GB per rank at 400 GB/s take 3750 us at the full rate.
  EXPECT_GT(fast.duration_us, 3750);
  EXPECT_LT(fast.duration_us, 2 * 3750);
  const double small_us = catalog.estimate(nvlink, "all_reduce", 1, 4).duration_us;
  const double transfer_us = fast.duration_us - small_us;
  nvlink.interconnect_gb_per_s = 800;
  EXPECT_NEAR(catalog.estimate(nvlink, "all_reduce", 1'000'000'000, 4).duration_us,
              small_us + transfer_us / 2, 1e-3);
  // Latency goes with log2(n), traffic with 2(n-1)/n.
  EXPECT_NEAR(catalog.estimate(nvlink, "all_reduce", 1, 16).duration_us, 2 * small_us, 1e-3);

  const CollectiveEstimate unknown = catalog.estimate(gpu("GPU X"), "send_recv", 1'000'000'000, 1);
  EXPECT_EQ(words(unknown),
            "no measured send_recv for GPU X: bandwidth model from its PCIe rate, 32 GB/s (PCIe "
            "4.0 x16 assumed, set \"interconnect\" and \"interconnectBandwidth\" in its hardware "
            "file)");
  HardwareSpec pcie = gpu("GPU P");
  pcie.interconnect = Interconnect::pcie;
  pcie.interconnect_gb_per_s = 32;
  EXPECT_EQ(catalog.estimate(pcie, "send_recv", 1'000'000'000, 1).duration_us, unknown.duration_us);
}

// A curve that takes `us` for every size up to 1 MB on two workers.
CollectiveModel flat(const std::string& hardware, const std::string& collective, double us) {
  CollectiveModel model;
  model.hardware = hardware;
  model.collective = collective;
  model.curves[2] = CollectiveCurve{{1000, 1e6}, {us, us}, 2};
  model.architecture = "ampere";
  model.interconnect = "nvlink";
  return model;
}

TEST(CustomAllReduce, AnswersForSmallMessagesOfEnginesAlone) {
  HardwareSpec a100 = test_ampere();
  a100.interconnect = Interconnect::nvlink;
  const CollectiveCatalog catalog(
      {flat(a100.name, "all_reduce", 40), flat(a100.name, "custom_all_reduce", 10)});
  EXPECT_EQ(catalog.estimate(a100, "all_reduce", 5000, 2, 8000).duration_us, 10);
  EXPECT_EQ(catalog.estimate(a100, "all_reduce", 9000, 2, 8000).duration_us, 40);
  EXPECT_EQ(catalog.estimate(a100, "all_reduce", 5000, 2).duration_us, 40);
}

TEST(CustomAllReduce, OverPcieTheFasterKernelRuns) {
  HardwareSpec card = test_ampere();
  card.interconnect = Interconnect::pcie;
  const CollectiveCatalog slow_custom(
      {flat(card.name, "all_reduce", 40), flat(card.name, "custom_all_reduce", 90)});
  EXPECT_EQ(slow_custom.estimate(card, "all_reduce", 5000, 2, 8000).duration_us, 40);
}

TEST(CustomAllReduce, IsBorrowedFromAGpuOfTheSameArchitectureAndLink) {
  HardwareSpec other = test_ampere();
  other.name = "NVIDIA A800";
  other.interconnect = Interconnect::nvlink;
  other.interconnect_gb_per_s = 200;
  const CollectiveCatalog catalog({flat(test_ampere().name, "custom_all_reduce", 10)});
  const CollectiveEstimate borrowed = catalog.estimate(other, "all_reduce", 5000, 2, 8000);
  EXPECT_EQ(borrowed.duration_us, 10);
  EXPECT_NE(words(borrowed).find("taken from NVIDIA A100"), std::string::npos);
  other.interconnect = Interconnect::pcie;
  EXPECT_NE(words(catalog.estimate(other, "all_reduce", 5000, 2, 8000)).find("bandwidth model"),
            std::string::npos);
}

// The GPU's own table goes on where NCCL was not measured.
TEST(CustomAllReduce, StandsInForUnmeasuredNccl) {
  const HardwareSpec a100 = test_ampere();
  const CollectiveCatalog catalog({flat(a100.name, "custom_all_reduce", 10)});
  const CollectiveEstimate large = catalog.estimate(a100, "all_reduce", 500000, 2, 8000);
  EXPECT_EQ(large.duration_us, 10);
  EXPECT_NE(words(large).find("no measured NCCL"), std::string::npos);
}

}  // namespace
}  // namespace pw
