#include "compare/run_rule.h"

#include <gtest/gtest.h>

namespace pw {
namespace {

// D04: the first run is a warm-up, four times as long.
std::vector<MeasuredRun> warm_up_runs() {
  std::vector<MeasuredRun> runs;
  const double prefill[] = {400, 104, 96, 100, 102};
  for (std::size_t i = 0; i < 5; ++i) {
    runs.push_back({static_cast<std::int64_t>(i), {{prefill[i], 10.0, 1000 + prefill[i]}}});
  }
  return runs;
}

TEST(RunRule, D04EachRuleHasItsValue) {
  const TimesMs predicted{{110.0, 10.0, 1110.0}};
  const std::pair<RunRule, double> cases[] = {
      {RunRule::median, 102}, {RunRule::without_first, 101},  // of 96, 100, 102, 104
      {RunRule::mean, 160.4}, {RunRule::best, 104},          {RunRule::worst, 400},
  };
  for (const auto& [rule, expected] : cases) {
    const TimesMs ms = measured_times(predicted, warm_up_runs(), rule);
    EXPECT_DOUBLE_EQ(*ms[Metric::prefill], expected) << to_string(rule);
    EXPECT_EQ(find_run_rule(to_string(rule)), rule);
  }
  EXPECT_FALSE(find_run_rule("luckiest"));
}

TEST(RunRule, LabelsSayHowManyRuns) {
  EXPECT_EQ(rule_label(RunRule::median, 5), "median of 5");
  EXPECT_EQ(rule_label(RunRule::best, 5), "best of 5");
  EXPECT_EQ(rule_label(RunRule::without_first, 5), "median of 4 without the first");
  EXPECT_EQ(rule_label(RunRule::without_first, 0), "median of 0 without the first");

  std::vector<MeasuredRun> one_usable(5);
  for (std::size_t i = 0; i < 5; ++i) {
    one_usable[i] = {static_cast<std::int64_t>(i), {{std::nullopt, 2.0, 3.0}}};
  }
  one_usable[0].ms[Metric::prefill] = 1.0;
  const auto label = [&](RunRule rule, Metric metric) {
    return rule_label(rule, one_usable, metric);
  };
  EXPECT_EQ(label(RunRule::median, Metric::prefill), "median of 1 (5 runs)");
  EXPECT_EQ(label(RunRule::median, Metric::decode), "median of 5");
  EXPECT_EQ(label(RunRule::mean, Metric::prefill), "mean of 1 (5 runs)");
  EXPECT_EQ(label(RunRule::best, Metric::prefill), "best of 5");
  EXPECT_EQ(label(RunRule::without_first, Metric::prefill),
            "median of 0 without the first (5 runs)");
  EXPECT_EQ(label(RunRule::without_first, Metric::total), "median of 4 without the first");
}

TEST(RunRule, TheFirstRunIsTheOneWithTheSmallestNumber) {
  std::vector<MeasuredRun> runs = warm_up_runs();
  std::swap(runs[0], runs[3]);
  EXPECT_DOUBLE_EQ(*measured_times({}, runs, RunRule::without_first)[Metric::prefill], 101);
  runs.resize(1);
  EXPECT_FALSE(measured_times({}, runs, RunRule::without_first)[Metric::prefill]);
}

// D02: a run without values neither counts nor wins.
TEST(RunRule, D02RunsThatLackAMetric) {
  const TimesMs predicted{{100.0, 10.0, 1000.0}};
  std::vector<MeasuredRun> runs(3);
  runs[0].ms = {{110.0, 12.5, 1250.0}};
  runs[1].ms[Metric::prefill] = 100;  // equal to the prediction, but nothing else
  const TimesMs best = measured_times(predicted, runs, RunRule::best);
  EXPECT_DOUBLE_EQ(*best[Metric::prefill], 110);
  EXPECT_DOUBLE_EQ(*best[Metric::total], 1250);
  const TimesMs middle = measured_times(predicted, runs, RunRule::median);
  EXPECT_DOUBLE_EQ(*middle[Metric::prefill], 105);
  EXPECT_DOUBLE_EQ(*middle[Metric::decode], 12.5);
  for (const RunRule rule : {RunRule::median, RunRule::mean, RunRule::best, RunRule::worst}) {
    EXPECT_FALSE(measured_times(predicted, {}, rule)[Metric::total]);
  }
}

}  // namespace
}  // namespace pw
