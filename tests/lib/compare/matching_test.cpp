#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/compare/comparison_fixture.h"
#include "support/error_of.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PredictedCase predicted(const std::string& stem, double prefill, double decode, double total) {
  PredictedCase p;
  p.file = stem + ".json";
  p.name = parse_case_name(stem).value_or(CaseName{});
  p.name.label = stem;
  p.ms = {{prefill, decode, total}};
  return p;
}

MeasuredCase measured(const std::string& run_name, const std::string& gpu, std::int64_t tp,
                      const std::vector<TimesMs>& runs) {
  MeasuredCase m;
  m.file = "e2e_" + gpu + ".jsonl";
  m.engine = "sglang";
  m.run_name = run_name;
  m.gpu = gpu;
  m.tp = tp;
  m.pp = 1;
  m.covers = {{true, true, true}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    m.runs.push_back({static_cast<std::int64_t>(i), runs[i]});
  }
  return m;
}

const TimesMs kOne{{100.0, 10.0, 1000.0}};

TEST(Matching, D05NamesMustBeEqual) {
  const std::vector<Method> methods{
      {"m", {predicted("Demo-7B_arxiv_16_fa2_tp1_pp1_RTX_6000_Ada", 110, 10, 900)}}};
  const std::vector<MeasuredCase> cases{
      measured("Demo-7B-arxiv_1", "RTX_6000_Ada", 1, {kOne}),
      measured("Demo-7B", "RTX_6000_Ada", 1, {kOne}),
      measured("Demo-7B-Chat-arxiv_16", "RTX_6000_Ada", 1, {kOne}),
      measured("Demo-7B-arxiv_16", "L40", 1, {kOne}),
      measured("Demo-7B-arxiv_16", "RTX_6000_Ada", 2, {kOne}),
      measured("Demo-7B-arxiv_16", "RTX_6000_Ada", 1, {{{{100.0, 10.0, 1000.0}}}}),
  };
  const Comparison comparison = compare(methods, cases, RunRule::median);
  ASSERT_EQ(comparison.rows.size(), 1u);
  const ComparisonRow& row = comparison.rows[0];
  EXPECT_NEAR(*row.metrics[Metric::prefill].signed_error(), 10, 1e-12);
  EXPECT_EQ(row.metrics[Metric::decode].signed_error(), 0);
  EXPECT_NEAR(*row.metrics[Metric::total].signed_error(), -10, 1e-12);
  EXPECT_NEAR(*row.mean_absolute_error(), 20.0 / 3, 1e-12);
  EXPECT_EQ(comparison.unmatched.size(), 5u);
  EXPECT_THAT(comparison.unmatched[0], "e2e_RTX_6000_Ada.jsonl: Demo-7B-arxiv_1: no prediction");
}

TEST(Matching, WhatFitsTwiceIsNotCompared) {
  const std::vector<MeasuredCase> once{measured("D-arxiv_8", "L40", 1, {kOne})};
  const std::vector<Method> two_kernels{{"m",
                                         {predicted("D_arxiv_8_fa2_tp1_pp1_L40", 1, 1, 1),
                                          predicted("D_arxiv_8_fa3_tp1_pp1_L40", 1, 1, 1)}}};
  const Comparison rivals = compare(two_kernels, once, RunRule::median);
  EXPECT_THAT(rivals.rows, IsEmpty());
  ASSERT_EQ(rivals.unmatched.size(), 2u);
  EXPECT_THAT(rivals.unmatched[0], HasSubstr("ambiguous, e2e_L40.jsonl: D-arxiv_8 fits"));

  const std::vector<MeasuredCase> twice{once[0], once[0]};
  const std::vector<Method> one{{"m", {two_kernels[0].cases[0]}}};
  const Comparison copies = compare(one, twice, RunRule::median);
  EXPECT_THAT(copies.rows, IsEmpty());
  EXPECT_THAT(copies.unmatched, ElementsAre(HasSubstr("ambiguous, fits")));
}

TEST(Matching, PipelineStagesMustBeEqualWhereTheyAreTold) {
  const std::vector<Method> methods{{"m", {predicted("D_arxiv_8_fa2_tp1_pp2_L40", 1, 1, 1)}}};
  std::vector<MeasuredCase> cases{measured("D-arxiv_8", "L40", 1, {kOne})};
  EXPECT_THAT(compare(methods, cases, RunRule::median).rows, IsEmpty());
  cases[0].pp.reset();
  EXPECT_EQ(compare(methods, cases, RunRule::median).rows.size(), 1u);
}

TEST(Matching, VllmHasTheTotalAlone) {
  MeasuredCase m;
  m.file = "vllm_arxiv16_H20_llama70B.json";
  m.engine = "vllm";
  m.run_name = "llama70b";
  m.trace = "arxiv16";
  m.gpu = "H20";
  m.covers[Metric::total] = true;
  TimesMs run;
  run[Metric::total] = 200;
  m.runs = {{0, run}};
  const std::vector<Method> methods{
      {"m",
       {predicted("Llama-3.1-70B_vllm_arxiv16_fa3_tp4_pp2_H20", 1, 1, 150),
        predicted("Llama-3.1-8B_vllm_arxiv16_fa3_tp4_pp2_H20", 1, 1, 150)}}};
  const Comparison comparison = compare(methods, {m}, RunRule::median);
  ASSERT_EQ(comparison.rows.size(), 1u);
  EXPECT_EQ(comparison.rows[0].name.engine, "vllm");
  EXPECT_EQ(*comparison.rows[0].metrics[Metric::total].signed_error(), -25);
  EXPECT_FALSE(comparison.rows[0].metrics[Metric::prefill].signed_error());
  EXPECT_THAT(comparison.excluded, IsEmpty()) << "prefill is not part of the measurement";
  EXPECT_THAT(comparison.unmatched, ElementsAre(HasSubstr("Llama-3.1-8B")));
}

TEST(Matching, D08ExclusionsAreListedWithTheirReason) {
  const std::vector<Method> methods{{"m", {predicted("D_arxiv_8_fa2_tp1_pp1_L40", 110, 1, 1)}}};
  std::vector<Method> no_decode = methods;
  no_decode[0].cases[0].ms[Metric::decode].reset();
  TimesMs run = kOne;
  run[Metric::total].reset();
  const Comparison comparison =
      compare(no_decode, {measured("D-arxiv_8", "L40", 1, {run, run})}, RunRule::median);
  EXPECT_THAT(
      comparison.excluded,
      ElementsAre("m: D arxiv_8 tp1 pp1 on L40: decode: no usable prediction",
                  "m: D arxiv_8 tp1 pp1 on L40: total: no usable value in 2 measured runs"));
  EXPECT_EQ(*comparison.rows[0].mean_absolute_error(), 10);
}

TEST(Matching, AFactorOfAThousandIsPointedOut) {
  const std::vector<Method> methods{{"m", {predicted("D_arxiv_8_fa2_tp1_pp1_L40", 0.1, 10, 900)}}};
  const Comparison comparison =
      compare(methods, {measured("D-arxiv_8", "L40", 1, {kOne})}, RunRule::median);
  EXPECT_THAT(
      comparison.notes,
      ElementsAre(HasSubstr("prefill: predicted 0.1 ms, measured 100 ms: check the units")));
}

// Methods "all" and "few" on `cases` GPUs; few has the first alone.
Comparison all_and_few(std::size_t cases) {
  std::vector<Method> methods{{"all", {}}, {"few", {}}};
  std::vector<MeasuredCase> runs;
  for (std::size_t i = 0; i < cases; ++i) {
    const std::string n = std::to_string(i);
    runs.push_back(measured("D-arxiv_" + n, "L40", 1, {kOne}));
    methods[0].cases.push_back(predicted("D_arxiv_" + n + "_fa2_tp1_pp1_L40", 100, 10, 1000));
  }
  methods[1].cases.push_back(methods[0].cases[0]);
  return compare(methods, runs, RunRule::median);
}

TEST(Matching, MethodsThatLackACaseOfAnotherAreNamed) {
  EXPECT_THAT(all_and_few(1).unmatched, IsEmpty());
  EXPECT_THAT(all_and_few(3).unmatched,
              ElementsAre("few: no prediction of e2e_L40.jsonl: D-arxiv_1",
                          "few: no prediction of e2e_L40.jsonl: D-arxiv_2"));
  EXPECT_EQ(all_and_few(6).unmatched.size(), 5u);
  EXPECT_THAT(all_and_few(7).unmatched,
              ElementsAre("few: no prediction of 6 cases that another method has, the first: "
                          "e2e_L40.jsonl: D-arxiv_1"));
}

TEST(Matching, OneRowTablesArePairedByName) {
  PredictedCase row = predicted("a", 1, 1, 900);
  row.file = "p.csv";
  MeasuredCase other = measured("b", "", 1, {kOne});
  other.file = "r.csv";
  other.engine.clear();
  const auto pair = [&](const MeasuredCase& runs) {
    return compare_pair({{"m", {row}}}, {runs}, std::nullopt, RunRule::median);
  };
  const Comparison comparison = pair(other);
  EXPECT_THAT(comparison.rows, IsEmpty());
  EXPECT_THAT(comparison.unmatched,
              ElementsAre("m: a (p.csv): no measurement", "r.csv: b: no prediction"));
  MeasuredCase same = other;
  same.run_name = "a";
  EXPECT_EQ(pair(same).rows.size(), 1u);
  row.file = "a.json";
  EXPECT_EQ(pair(other).rows.size(), 1u) << "the name of a file says nothing";
  EXPECT_EQ(compare_pair({{"m", {row}}}, {other}, "b", RunRule::median).rows.size(), 1u);
}

TEST(Matching, PairsIgnoreWhatFilesAreCalled) {
  const std::vector<Method> told{{"m", {predicted("D_arxiv_8_fa2_tp1_pp1_L40", 1, 1, 1)}}};
  const std::vector<Method> untold{{"m", {predicted("pred", 1, 1, 1)}}};
  const std::vector<MeasuredCase> other_gpu{measured("D-arxiv_8", "A100", 4, {kOne}),
                                            measured("D-arxiv_9", "A100", 4, {kOne})};
  EXPECT_EQ(compare_pair(told, other_gpu, std::nullopt, RunRule::median).rows.size(), 1u);
  EXPECT_EQ(compare_pair(untold, {other_gpu[1]}, std::nullopt, RunRule::median).rows.size(), 1u);
  EXPECT_EQ(compare_pair(untold, other_gpu, "D-arxiv_9", RunRule::median).rows.size(), 1u);
  EXPECT_THAT(
      error_of([&] { compare_pair(untold, other_gpu, std::nullopt, RunRule::median); }),
      HasSubstr("e2e_A100.jsonl has no runs called 'pred', it has D-arxiv_8, D-arxiv_9; choose"));
  EXPECT_THAT(error_of([&] { compare_pair(told, other_gpu, "x", RunRule::median); }),
              HasSubstr("no runs called 'x'"));
}

TEST(Matching, PairsOfDifferentNamesAreNoted) {
  const std::vector<Method> told{{"m", {predicted("D_arxiv_8_fa2_tp1_pp1_L40", 101, 10, 1000)}}};
  const std::vector<Method> untold{{"m", {predicted("pred", 101, 10, 1000)}}};
  const auto notes = [](const std::vector<Method>& methods, const MeasuredCase& runs,
                        const std::optional<std::string>& run_name = std::nullopt) {
    const Comparison comparison = compare_pair(methods, {runs}, run_name, RunRule::median);
    EXPECT_EQ(comparison.rows.size(), 1u);
    return comparison.notes;
  };
  const MeasuredCase other = measured("D-arxiv_9", "A100", 4, {kOne});
  EXPECT_THAT(notes(told, other),
              ElementsAre("m: D arxiv_8 tp1 pp1 on L40 is compared with the runs of "
                          "e2e_A100.jsonl: D-arxiv_9, the only ones: the names differ"));
  EXPECT_THAT(notes(told, measured("D-arxiv_8", "A100", 4, {kOne})), IsEmpty());
  EXPECT_THAT(notes(untold, other), IsEmpty());
  EXPECT_THAT(notes(told, other, "D-arxiv_9"), IsEmpty()) << "asked for";

  MeasuredCase vllm = other;
  vllm.engine = "vllm";
  vllm.run_name = "llama70b";
  vllm.trace = "arxiv16";
  EXPECT_THAT(notes(told, vllm), ElementsAre(HasSubstr("the names differ")));
  EXPECT_THAT(
      notes({{"m", {predicted("Llama-3.1-70B_vllm_arxiv16_fa3_tp4_pp2_H20", 101, 10, 1000)}}},
            vllm),
      IsEmpty());
  vllm.trace.clear();
  EXPECT_THAT(notes(told, vllm), IsEmpty()) << "its file tells no case";
}

}  // namespace
}  // namespace pw
