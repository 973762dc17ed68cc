#include "pw/collective.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/collective_errors.h"
#include "pw/fields.h"
#include "statistics.h"

namespace pw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The message of the DataError that `call` throws; empty when it throws none.
template <class Call>
std::string data_error(Call call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

class CollectiveFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("pw_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

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

TEST(Evaluate, IsLogLogLinearAndBandwidthBoundAbove) {
  const CollectiveCurve curve{{1e3, 1e5, 1e6}, {10, 40, 400}, 3};
  const struct {
    double bytes, duration_us;
  } cases[] = {
      {1, 10},        {1e3, 10},   {1e4, 20},  // half of the way in ln(bytes)
      {1e5, 40},      {2e5, 80},               // slope 1 between the last two knots
      {1e6, 400},     {3e6, 1200},             // and above the last
      {9e18, 3.6e15},
  };
  for (const auto& [bytes, duration_us] : cases) {
    EXPECT_NEAR(evaluate(curve, bytes), duration_us, 1e-12 * duration_us) << bytes;
  }
  EXPECT_EQ(evaluate({{500}, {7}, 1}, 499), 7);
  EXPECT_EQ(evaluate({{500}, {7}, 1}, 1000), 14);
}

TEST(FitCurve, TakesMeanLnSizeAndMedianLnDurationOfABin) {
  // 1000 and 1080 share the bin [10^(72/24), 10^(73/24)) = [1000, 1100.7); 1102 is in the next.
  const CollectiveCurve curve =
      fit_curve(samples({{1000, 4}, {1080, 9}, {1000, 5}, {1080, 100}, {1102, 50}}));
  ASSERT_EQ(curve.bytes.size(), 2U);
  EXPECT_NEAR(curve.bytes[0], std::sqrt(1000.0 * 1080.0), 0.005);  // 6 digits are kept
  EXPECT_NEAR(curve.duration_us[0], std::sqrt(5.0 * 9.0), 5e-5);
  EXPECT_EQ(curve.bytes[1], 1102);
  EXPECT_EQ(curve.duration_us[1], 50);
  EXPECT_EQ(curve.rows, 5);
}

TEST(FitCurve, PoolsViolatorsByWeight) {
  // The second bin lies below the first, which has three rows: ln pool = (3 ln 8 + ln 2) / 4.
  const CollectiveCurve curve =
      fit_curve(samples({{1000, 8}, {1000, 8}, {1000, 8}, {2000, 2}, {4000, 16}}));
  const double pooled = std::exp((3 * std::log(8.0) + std::log(2.0)) / 4);
  EXPECT_THAT(curve.bytes, ElementsAre(1000, 2000, 4000));
  EXPECT_NEAR(curve.duration_us[0], pooled, 5e-5);
  EXPECT_EQ(curve.duration_us[0], curve.duration_us[1]);
  EXPECT_EQ(curve.duration_us[2], 16);
}

TEST(FitCurve, PoolsBackThroughEarlierPools) {
  const CollectiveCurve curve =
      fit_curve(samples({{1000, 8}, {2000, 16}, {4000, 16}, {8000, 0.5}}));
  // Bins 2..4 pool to (16 * 16 * 0.5)^(1/3) = 5.04 < 8, so the first joins them.
  EXPECT_THAT(curve.bytes, ElementsAre(1000, 8000));
  EXPECT_NEAR(curve.duration_us[0], std::pow(8.0 * 16 * 16 * 0.5, 0.25), 5e-5);
  EXPECT_EQ(curve.duration_us[0], curve.duration_us[1]);
}

TEST(FitCurve, DropsKnotsOnAStraightLineOnly) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
    points.emplace_back(bytes, static_cast<double>(bytes) / 100);
  }
  EXPECT_THAT(fit_curve(samples(points)).bytes, ElementsAre(1024, 1.04858e6));
  points[5].second *= 1.0004;  // within 0.05 % of the line
  EXPECT_THAT(fit_curve(samples(points)).bytes, ElementsAre(1024, 1.04858e6));
  points[5].second *= 1.01;
  EXPECT_GT(fit_curve(samples(points)).bytes.size(), 2U);
}

TEST(FitCurve, KeepsOneKnotOfSizesThatRoundToTheSame) {
  // 10^(216/24) = 1e9 is a bin's edge.
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
  const struct {
    const char *gpu, *collective;
    std::int64_t bytes, workers;
    double duration_us;
    const char* note;
  } cases[] = {
      {"GPU A", "all_reduce", 1'000'000, 2, 100, ""},
      {"GPU A", "all_reduce", 1'000'000, 4, 300, ""},
      {"GPU A", "all_reduce", 100, 4, 20, ""},
      {"GPU A", "all_reduce", 1'040'000, 4, 312, ""},  // not worth a note
      {"GPU A", "all_reduce", 2'000'000, 4, 600, "extrapolated from 1000000 to 2000000 bytes"},
      // 2(n-1)/n: 1 on 2 workers, 4/3 on 3, 3/2 on 4, 7/4 on 8.
      {"GPU A", "all_reduce", 1'000'000, 3, 300 * (4.0 / 3) / 1.5,
       "all_reduce on 3 workers taken from 4 measured workers, scaled by 2(n-1)/n"},
      {"GPU A", "all_reduce", 2'000'000, 8, 600 * 1.75 / 1.5,
       "extrapolated from 1000000 to 2000000 bytes; all_reduce on 8 workers taken from 4 measured "
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
    EXPECT_EQ(result.note, c.note);
  }
}

TEST(Estimate, RefusesWhatHasNoMeaning) {
  const CollectiveCatalog catalog(kModels);
  const struct {
    const char* collective;
    std::int64_t bytes, workers;
    const char* message;
  } cases[] = {
      {"all_gather", 1000, 2, "collective 'all_gather' is unknown; expected all_reduce or"},
      {"", 1000, 2, "collective '' is unknown"},
      {"all_reduce", 0, 2, "all_reduce: message size is 0 bytes"},
      {"send_recv", -5, 2, "send_recv: message size is -5 bytes"},
      {"all_reduce", 0, 1, "message size is 0 bytes"},
      {"all_reduce", 1000, 0, "number of workers is 0"},
      {"send_recv", 1000, -1, "number of workers is -1"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(
        data_error([&] { catalog.estimate(gpu("GPU A"), c.collective, c.bytes, c.workers); }),
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

TEST(BandwidthModel, FollowsTheLinkAndNamesIt) {
  const CollectiveCatalog catalog(kModels);
  HardwareSpec nvlink = gpu("GPU N");
  nvlink.interconnect = Interconnect::nvlink;
  nvlink.interconnect_gb_per_s = 400;
  const CollectiveEstimate fast = catalog.estimate(nvlink, "all_reduce", 1'000'000'000, 4);
  EXPECT_EQ(fast.note,
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
  EXPECT_EQ(unknown.note,
            "no measured send_recv for GPU X: bandwidth model from its PCIe rate, 32 GB/s (PCIe "
            "4.0 x16 assumed, set \"interconnect\" and \"interconnectBandwidth\" in its hardware "
            "file)");
  HardwareSpec pcie = gpu("GPU P");
  pcie.interconnect = Interconnect::pcie;
  pcie.interconnect_gb_per_s = 32;
  EXPECT_EQ(catalog.estimate(pcie, "send_recv", 1'000'000'000, 1).duration_us, unknown.duration_us);
}

TEST_F(CollectiveFiles, JsonGivesBackTheModelsSorted) {
  const std::string text = collectives_json(kModels);
  const CollectiveCatalog catalog = CollectiveCatalog::read(write("c.json", text));
  ASSERT_EQ(catalog.models().size(), 4U);
  EXPECT_EQ(collectives_json(catalog.models()), text);
  const CollectiveModel& first = catalog.models()[0];
  EXPECT_EQ(first.hardware, "GPU A");
  EXPECT_EQ(first.collective, "all_reduce");
  EXPECT_EQ(first.source, "made up");
  EXPECT_EQ(first.sha256, "def");
  EXPECT_THAT(first.curves.at(4).duration_us, ElementsAre(20, 300));
  EXPECT_EQ(first.curves.at(4).rows, 40);
  EXPECT_EQ(catalog.models()[3].hardware, "GPU B");
}

TEST_F(CollectiveFiles, FittedCurvesSurviveTheFileExactly) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (std::int64_t i = 1; i < 60; ++i) {
    points.emplace_back(i * i * i * 777, std::sqrt(static_cast<double>(i)) + 1.0 / 3);
  }
  const CollectiveCurve curve = fit_curve(samples(points));
  const auto path = write("c.json", collectives_json({{"G", "send_recv", {{2, curve}}, "s", "h"}}));
  const CollectiveCatalog catalog = CollectiveCatalog::read(path);
  EXPECT_EQ(catalog.models()[0].curves.at(2).bytes, curve.bytes);
  EXPECT_EQ(catalog.models()[0].curves.at(2).duration_us, curve.duration_us);
}

TEST_F(CollectiveFiles, BadJsonIsNamed) {
  const auto file = [](const std::string& curves) {
    return R"({"format_version":1,"curves":[)" + curves + "]}";
  };
  const auto curve = [](const std::string& bytes, const std::string& us,
                        const std::string& more = R"("workers":2,"rows":3)") {
    return R"({"hardware":"G","collective":"all_reduce","source":"s","sha256":"h","bytes":)" +
           bytes + R"(,"duration_us":)" + us + "," + more + "}";
  };
  const std::string good = curve("[1,2]", "[3,3]");
  EXPECT_EQ(CollectiveCatalog::read(write("good.json", file(good))).models().size(), 1U);
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {R"({"format_version":2,"curves":[]})", "found 2; this program reads 1"},
      {R"({"curves":[]})", "format_version"},
      {R"({"format_version":1})", "curves"},
      {file(good + "," + good), "curves[1]"},
      {file(curve("[1]", "[3,4]")), "1 sizes for 2 durations"},
      {file(curve("[]", "[]")), "0 sizes for 0 durations"},
      {file(curve("[2,2]", "[3,4]")), "sizes must ascend"},
      {file(curve("[1,2]", "[4,3]")), "durations must not descend"},
      {file(curve("[0,2]", "[3,4]")), "found 0; expected numbers above 0"},
      {file(curve("[1,2]", R"([3,"4"])")), "found \"4\"; expected numbers above 0"},
      {file(curve("[1,2]", "[3,4]", R"("workers":1,"rows":3)")), "workers"},
      {file(curve("[1,2]", "[3,4]", R"("workers":2)")), "rows"},
      {file(R"({"workers":2,"hardware":"G","collective":"gather","source":"s","sha256":"h"})"),
       "collective 'gather' is unknown"},
  };
  for (const auto& c : cases) {
    const auto path = write("bad.json", c.text);
    EXPECT_THAT(data_error([&] { CollectiveCatalog::read(path); }), HasSubstr(c.message)) << c.text;
  }
}

TEST_F(CollectiveFiles, CsvMillisecondsBecomeMicroseconds) {
  const auto path = write("all_reduce.csv",
                          ",time_stats.all_reduce.mean,time_stats.all_reduce.median,rank,"
                          "num_workers,size\n"
                          "0,9,0.25,0,4,2048\n1,9,1.5,0,2,4096\n");
  const auto read = read_collective_samples(path, "all_reduce");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].duration_us, 250);
  EXPECT_EQ(read[0].bytes, 2048);
  EXPECT_EQ(read[0].workers, 4);
  EXPECT_EQ(read[1].duration_us, 1500);
  const SamplesByWorkers groups = by_workers(read);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.at(2)[0].bytes, 4096);
}

TEST_F(CollectiveFiles, BadCsvIsNamedWithItsLine) {
  const std::string header = "time_stats.all_reduce.median,num_workers,size\n0.1,2,10\n";
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"time_stats.all_reduce.median,num_workers,size\n", "no row"},
      {"time_stats.send_recv.median,num_workers,size\n1,2,3\n", "time_stats.all_reduce.median"},
      {"time_stats.all_reduce.median,size\n1,2\n", "num_workers"},
      {header + "0,2,10\n", "expected a duration above 0 ms"},
      {header + "-1,2,10\n", "expected a duration above 0 ms"},
      {header + ",2,10\n", ":3"},
      {header + "0.1,1,10\n", ":3"},
      {header + "0.1,2,0\n", ":3"},
      {header + "0.1,2,1.5\n", ":3"},
      {header + "0.1,2\n", "3"},
  };
  for (const auto& c : cases) {
    const auto path = write("all_reduce.csv", c.text);
    EXPECT_THAT(data_error([&] { read_collective_samples(path, "all_reduce"); }),
                HasSubstr(c.message))
        << c.text;
  }
  EXPECT_THAT(data_error([&] { read_collective_samples(folder_ / "none.csv", "all_reduce"); }),
              HasSubstr("none.csv"));
  EXPECT_THAT(data_error([&] { read_collective_samples(write("x.csv", header), "x"); }),
              HasSubstr("collective 'x' is unknown"));
}

TEST(CollectiveErrors, AreRelativeToTheMeasurement) {
  const CollectiveCurve curve{{1000}, {10}, 1};
  const auto errors = errors_of(curve, samples({{500, 8}, {1000, 20}, {1000, 10}}));
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_DOUBLE_EQ(errors[0].ape_percent, 25);
  EXPECT_DOUBLE_EQ(errors[1].ape_percent, 50);
  EXPECT_EQ(errors[2].ape_percent, 0);
  const auto all = summarise(errors);
  EXPECT_EQ(all->rows, 3);
  EXPECT_DOUBLE_EQ(all->mean_percent, 25);
  EXPECT_DOUBLE_EQ(all->median_percent, 25);
  EXPECT_EQ(summarise(errors, 501, 1001)->rows, 2);
  EXPECT_FALSE(summarise(errors, 0, 500));
}

TEST(CollectiveErrors, CrossValidationPredictsEverySampleWithoutItself) {
  // Every size a bin of its own: the held-out knot is bridged by its neighbours, so a single
  // outlier costs its own error, which the fit on all rows does not show.
  std::vector<std::pair<std::int64_t, double>> points;
  for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
    points.emplace_back(bytes, static_cast<double>(bytes) / 100);
  }
  points[6].second *= 1.5;
  const auto data = samples(points);
  const auto errors = cross_validate(data, 5, 42);
  ASSERT_EQ(errors.size(), data.size());
  EXPECT_LT(summarise(errors_of(fit_curve(data), data))->mean_percent, 0.01);
  EXPECT_GT(summarise(errors)->mean_percent, 3);
  EXPECT_EQ(summarise(errors)->mean_percent, summarise(cross_validate(data, 5, 42))->mean_percent);

  EXPECT_EQ(cross_validate(samples({{10, 1}, {1000, 2}}), 5, 42).size(), 2U);
  EXPECT_TRUE(cross_validate(samples({{10, 1}}), 5, 42).empty());
}

TEST(CollectiveErrors, ExtrapolationFitsBelowAndTestsAbove) {
  const auto data = samples({{100, 10}, {150, 1}, {400, 1}, {401, 80.2}});
  const auto errors = extrapolation_errors(samples({{100, 10}, {150, 999}, {401, 80.2}}), 150, 400);
  ASSERT_EQ(errors.size(), 1U);  // 10 us at 100 bytes are 40.1 us at 401
  EXPECT_EQ(errors[0].bytes, 401);
  EXPECT_NEAR(errors[0].ape_percent, 50, 1e-9);
  EXPECT_TRUE(extrapolation_errors(data, 100, 400).empty());
  EXPECT_TRUE(extrapolation_errors(data, 150, 401).empty());
}

}  // namespace
}  // namespace pw
