#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "pw/collective.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class CollectiveFiles : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    write_file_atomic(folder_.path() / name, text);
    return folder_.path() / name;
  }

  TemporaryFolder folder_;
};

CollectiveForest small_forest() {
  CollectiveForest forest;
  forest.steps_from_workers = {{1, {{1000, 2000}, {1.5, 1.0 / 3, 3}}}, {6, {{}, {10}}}};
  forest.workers = {4, 8};
  forest.largest_bytes = 5000;
  forest.rows = 9;
  return forest;
}

std::vector<CollectiveModel> models() {
  std::vector<CollectiveModel> all{
      {"GPU B", "all_reduce", {{8, {{1000, 1e6}, {50, 700}, 20}}}, "made up", "abc"},
      {"GPU B", "send_recv", {}, "made up", "345", small_forest(), CallStatistic::mean},
      {"GPU A",
       "all_reduce",
       {{2, {{1000, 1e6}, {10, 100}, 30}}, {4, {{1000, 1e6}, {20, 300}, 40}}},
       "made up",
       "def"},
  };
  all[2].errors = {{"all", {70, 1.25, 0.5}, ErrorBand{70, -0.01, 0.002, 0.03, 0.75}},
                   {"extrapolated", {7, 12, 11.125}}};
  return all;
}

TEST_F(CollectiveFiles, JsonGivesBackTheModelsSorted) {
  const std::string text = collectives_json(models());
  const CollectiveCatalog catalog = CollectiveCatalog::read(write("c.json", text));
  ASSERT_EQ(catalog.models().size(), 3U);
  EXPECT_EQ(collectives_json(catalog.models()), text);
  const CollectiveModel& first = catalog.models()[0];
  EXPECT_EQ(first.hardware, "GPU A");
  EXPECT_EQ(first.collective, "all_reduce");
  EXPECT_EQ(first.kind(), CollectiveKind::monotone);
  EXPECT_EQ(first.statistic, CallStatistic::median);
  EXPECT_EQ(first.source, "made up");
  EXPECT_EQ(first.sha256, "def");
  EXPECT_THAT(first.curves.at(4).duration_us, ElementsAre(20, 300));
  EXPECT_EQ(first.curves.at(4).rows, 40);
  ASSERT_EQ(first.errors.size(), 2U);
  EXPECT_EQ(first.errors[0].band->p90, 0.03);
  EXPECT_EQ(first.errors[0].band->coverage, 0.75);
  EXPECT_FALSE(first.errors[1].band) << "files from before bands were measured";
  EXPECT_EQ(first.errors[1].name, "extrapolated");
  EXPECT_EQ(first.errors[1].summary.rows, 7);
  EXPECT_EQ(first.errors[1].summary.mean_percent, 12);
  EXPECT_EQ(first.errors[1].summary.median_percent, 11.125);

  const CollectiveModel& last = catalog.models()[2];
  EXPECT_EQ(last.kind(), CollectiveKind::forest);
  EXPECT_EQ(last.statistic, CallStatistic::mean);
  EXPECT_THAT(last.forest->workers, ElementsAre(4, 8));
  EXPECT_EQ(last.forest->largest_bytes, 5000);
  EXPECT_EQ(last.forest->rows, 9);
  EXPECT_THAT(last.forest->steps_from_workers.at(1).bytes_up_to, ElementsAre(1000, 2000));
  EXPECT_THAT(last.forest->steps_from_workers.at(1).duration_us, ElementsAre(1.5, 1.0 / 3, 3));
  EXPECT_THAT(last.forest->steps_from_workers.at(6).duration_us, ElementsAre(10));
}

TEST_F(CollectiveFiles, FittedModelsSurviveTheFileExactly) {
  std::vector<CollectiveSample> samples;
  for (std::int64_t i = 1; i < 200; ++i) {
    samples.push_back({i * i * i * 777, 2 + i % 3, std::sqrt(static_cast<double>(i)) + 1.0 / 3});
  }
  CollectiveModel curves = fit_model(CollectiveKind::monotone, samples);
  CollectiveModel forest = fit_model(CollectiveKind::forest, samples);
  curves.hardware = "C";
  forest.hardware = "F";
  curves.collective = forest.collective = "all_reduce";
  curves.source = forest.source = curves.sha256 = forest.sha256 = "made up";
  const CollectiveCatalog catalog =
      CollectiveCatalog::read(write("c.json", collectives_json({curves, forest})));
  for (std::int64_t bytes = 1; bytes < 1'000'000'000; bytes += 1 + bytes / 50) {
    for (const std::int64_t workers : {2, 3, 4}) {
      EXPECT_EQ(evaluate(catalog.models()[0], bytes, workers), evaluate(curves, bytes, workers));
      EXPECT_EQ(evaluate(catalog.models()[1], bytes, workers), evaluate(forest, bytes, workers));
    }
  }
}

TEST_F(CollectiveFiles, BadJsonIsNamed) {
  const auto file = [](const std::string& models) {
    return R"({"format_version":2,"models":[)" + models + "]}";
  };
  const auto model = [](const std::string& kind, const std::string& rest) {
    return R"({"hardware":"G","collective":"all_reduce","kind":")" + kind +
           R"(","statistic":"median","source":"s","sha256":"h","errors":[],)" + rest + "}";
  };
  const auto curves = [&](const std::string& list) {
    return model("monotone", R"("curves":[)" + list + "]");
  };
  const auto curve = [](const std::string& bytes, const std::string& us,
                        const std::string& more = R"("workers":2,"rows":3)") {
    return R"({"bytes":)" + bytes + R"(,"duration_us":)" + us + "," + more + "}";
  };
  const auto forest = [&](const std::string& workers, const std::string& steps) {
    return model("forest", R"("workers":)" + workers + R"(,"largest_bytes":9,"rows":4,"steps":[)" +
                               steps + "]");
  };
  const auto steps = [](int from, const std::string& ends, const std::string& us) {
    return R"({"from_workers":)" + std::to_string(from) + R"(,"bytes_up_to":)" + ends +
           R"(,"duration_us":)" + us + "}";
  };
  const std::string good = curve("[1,2]", "[3,3]");
  const std::string good_steps = steps(1, "[5]", "[3,4]");
  for (const std::string& text : {curves(good), forest("[2]", good_steps)}) {
    EXPECT_EQ(CollectiveCatalog::read(write("good.json", file(text))).models().size(), 1U);
  }
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {R"({"format_version":1,"curves":[]})", "found 1; this program reads 2"},
      {R"({"models":[]})", "format_version"},
      {R"({"format_version":2})", "models"},
      {file(curves(good) + "," + curves(good)), "models[1].collective"},
      {file(curves(good + "," + good)), "curves[1].workers: a second curve for 2 workers"},
      {file(curves("")), "expected at least one curve"},
      {file(curves(curve("[1]", "[3,4]"))), "1 sizes for 2 durations"},
      {file(curves(curve("[]", "[]"))), "0 sizes for 0 durations"},
      {file(curves(curve("[2,2]", "[3,4]"))), "bytes: the numbers must ascend"},
      {file(curves(curve("[1,2]", "[4,3]"))), "durations must not descend"},
      {file(curves(curve("[0,2]", "[3,4]"))), "found 0; expected numbers above 0"},
      {file(curves(curve("[1,2]", R"([3,"4"])"))), "found \"4\"; expected numbers above 0"},
      {file(curves(curve("[1,2]", "[3,4]", R"("workers":1,"rows":3)"))), "workers"},
      {file(curves(curve("[1,2]", "[3,4]", R"("workers":2)"))), "rows"},
      {file(model("tree", R"("curves":[])")), "kind is 'tree', expected one of monotone, forest"},
      {file(R"({"hardware":"G","collective":"gather"})"), "collective 'gather' is unknown"},
      {file(forest("[]", good_steps)), "expected at least one worker count"},
      {file(forest("[1,2]", good_steps)), "all above 1"},
      {file(forest("[4,2]", good_steps)), "workers: the numbers must ascend"},
      {file(forest("[2]", "")), "expected steps from 1 worker on"},
      {file(forest("[2]", steps(2, "[5]", "[3,4]"))), "found 2; expected 1"},
      {file(forest("[2]", good_steps + "," + good_steps)), "steps[1].from_workers"},
      {file(forest("[2]", steps(1, "[5]", "[3]"))), "1 durations for 1 ends of steps"},
      {file(forest("[2]", steps(1, "[5,5]", "[3,4,5]"))), "bytes_up_to: the numbers must ascend"},
      {file(forest("[2]", steps(1, "[5]", "[3,0]"))), "found 0; expected numbers above 0"},
  };
  for (const auto& c : cases) {
    const auto path = write("bad.json", c.text);
    EXPECT_THAT(error_of([&] { CollectiveCatalog::read(path); }), HasSubstr(c.message)) << c.text;
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
  EXPECT_EQ(read_collective_samples(path, "all_reduce", CallStatistic::mean)[0].duration_us, 9000);
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
    EXPECT_THAT(error_of([&] { read_collective_samples(path, "all_reduce"); }),
                HasSubstr(c.message))
        << c.text;
  }
  EXPECT_THAT(error_of([&] {
                read_collective_samples(write("x.csv", header), "all_reduce", CallStatistic::mean);
              }),
              HasSubstr("time_stats.all_reduce.mean"));
  EXPECT_THAT(error_of([&] { read_collective_samples(folder_.path() / "none.csv", "all_reduce"); }),
              HasSubstr("none.csv"));
  EXPECT_THAT(error_of([&] { read_collective_samples(write("x.csv", header), "x"); }),
              HasSubstr("collective 'x' is unknown"));
}

}  // namespace
}  // namespace pw
