#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/compare/comparison_fixture.h"
#include "pw/prediction.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/fake_model.h"
#include "support/temporary_folder.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

using testing::HasSubstr;

PredictedCase read(const TemporaryFolder& folder, const std::string& name, const std::string& text,
                   const Warn& warn = no_warning) {
  return read_prediction_file(folder.file(name, text), shipped_catalog(), warn);
}

TEST(PredictionFile, PublishedFilesTellTheirCaseByName) {
  const TemporaryFolder folder;
  const PredictedCase p = read(folder, "Demo-7B_arxiv_16_fa2_tp1_pp1_RTX_6000_Ada.json",
                               times_json("100.5", "10", "1000"));
  EXPECT_EQ(p.name.model, "Demo-7B");
  EXPECT_EQ(p.name.trace, "arxiv_16");
  EXPECT_EQ(p.name.gpu, "RTX_6000_Ada");
  EXPECT_EQ(p.ms[Metric::prefill], 100.5);
  EXPECT_EQ(p.ms[Metric::decode], 10);
  EXPECT_EQ(p.ms[Metric::total], 1000);
  EXPECT_FALSE(p.gpu_seen);
  EXPECT_TRUE(p.operators.empty());
}

TEST(PredictionFile, OurFilesTellItInTheirRecord) {
  const TemporaryFolder folder;
  const PredictedCase p = read(folder, "x.json", R"({"tp_size": 4, "pp_size": 2,
    "summary": {"prefill_duration_ms": 1, "decode_avg_duration_ms": 2, "total_duration_ms": 3},
    "case": {"model": "Llama-3.1-70B", "trace": "vllm_arxiv16", "engine": "sglang",
             "hardware": "RTX 6000 Ada"},
    "facts": [], "provenance": {"attn_paged": "attn.pt sha256:ab"}})");
  EXPECT_EQ(p.name.label, "x");
  EXPECT_EQ(p.name.engine, "vllm") << "the trace is a vLLM one";
  EXPECT_EQ(p.name.trace, "arxiv16");
  EXPECT_EQ(p.name.gpu, "RTX_6000_Ada");
  EXPECT_EQ(p.name.tp, 4);
  EXPECT_EQ(p.name.pp, 2);
  EXPECT_EQ(p.gpu_seen, true);
}

// The whole way from a prediction to what is read of its file.
TEST(PredictionFile, BandsMayBeMissing) {
  const TemporaryFolder folder;
  const PredictedCase p = read(folder, "x.json", R"({
    "summary": {"prefill_duration_ms": 1, "decode_avg_duration_ms": 2, "total_duration_ms": 3},
    "bands": {"prefill_ms": {"p10": 0.5, "p90": 1.5}, "decode_avg_ms": null}})");
  EXPECT_EQ(p.bands[Metric::prefill]->p10, 0.5);
  EXPECT_EQ(p.bands[Metric::prefill]->p90, 1.5);
  EXPECT_FALSE(p.bands[Metric::decode]);
  EXPECT_FALSE(p.bands[Metric::total]);
}

TEST(PredictionFile, TellsWhetherTheModelsSawTheGpu) {
  const TemporaryFolder folder;
  const Workload workload = generate_workload(demo_model(), uniform_trace(3, 100, 4), {});
  const HardwareSpec gpu = test_ampere();
  for (const std::string& trained_on : {std::string("NVIDIA H20"), gpu.name}) {
    const auto gemm = constant_model("gemm", 0.5f), attention = constant_model("attn", 0.5f);
    gemm->record().hardware_rows = {{trained_on, 10}};
    const OperatorPredictor predictor(gpu, {{"gemm", loaded(gemm)}, {"attn", loaded(attention)}});
    Prediction prediction = predict_workload(workload, predictor, CollectiveCatalog());
    prediction.provenance = {{"gemm", "fake.pt sha256:0"}};
    const PredictedCase p =
        read(folder, "p.json", prediction_json(prediction, PredictionDetail::iterations));
    EXPECT_EQ(p.gpu_seen, trained_on == gpu.name);
    EXPECT_EQ(p.name.gpu, "A100");
    EXPECT_NEAR(*p.ms[Metric::total], prediction.summary.total_us / 1000, 1e-6);
    double sum = 0;
    for (const OperatorTotal& total : p.operators) sum += total.ms[Metric::total];
    EXPECT_NEAR(sum, *p.ms[Metric::total], 1e-4);
  }
}

TEST(PredictionFile, TheFileNameServesWhereTheRecordIsEmpty) {
  const TemporaryFolder folder;
  const PredictedCase p = read(folder, "Llama-3.1-70B_vllm_arxiv16_fa3_tp4_pp2_H20.json", R"({
    "tp_size": 4, "pp_size": 2,
    "summary": {"prefill_duration_ms": 1, "decode_avg_duration_ms": 2, "total_duration_ms": 3},
    "case": {"model": "", "trace": "", "engine": "sglang", "hardware": "H20"}, "facts": [],
    "provenance": {"tool": "pw-predict", "attn": "attn.pt sha256:ab"}})");
  EXPECT_EQ(p.name.model, "Llama-3.1-70B");
  EXPECT_EQ(p.name.engine, "vllm");
  EXPECT_EQ(p.gpu_seen, true);
}

TEST(PredictionFile, RooflineFilesNestTheAverage) {
  const TemporaryFolder folder;
  const PredictedCase p = read(folder, "r.json", R"({"summary": {"total_duration_ms": 30,
    "prefill_duration_ms": 10, "decode_duration_ms": {"total": 20, "average": 4, "count": 5}}})");
  EXPECT_EQ(p.ms[Metric::decode], 4);
}

// D08: a NaN in a prediction is n/a and a warning.
TEST(PredictionFile, D08UnusableTimesAreNotAvailable) {
  const TemporaryFolder folder;
  Warnings warnings;
  const PredictedCase p = read(folder, "p.json", times_json("NaN", "0", "\"12\""), warnings.sink());
  for (const Metric metric : kMetrics) EXPECT_FALSE(p.ms[metric]);
  ASSERT_EQ(warnings.texts.size(), 4u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("p.json:2: NaN or Infinity"));
  EXPECT_THAT(warnings.texts[1], HasSubstr("summary.prefill_duration_ms is null, n/a"));
  EXPECT_THAT(warnings.texts[2], HasSubstr("summary.total_duration_ms is \"12\", n/a"));
  EXPECT_THAT(warnings.texts[3], HasSubstr("decode_avg_duration_ms is 0, not above 0, n/a"));
}

// Sums and ratios of these would not be finite.
TEST(PredictionFile, TimesBeyondAllMeaningAreNotAvailable) {
  const TemporaryFolder folder;
  Warnings warnings;
  const PredictedCase p =
      read(folder, "p.json", times_json("1e300", "1e-300", "12"), warnings.sink());
  EXPECT_FALSE(p.ms[Metric::prefill]);
  EXPECT_FALSE(p.ms[Metric::decode]);
  EXPECT_EQ(p.ms[Metric::total], 12);
  EXPECT_THAT(warnings.texts[0], HasSubstr("is 1e+300, outside what can be compared, n/a"));
}

TEST(PredictionFile, OperatorsAreSummedByPhase) {
  const TemporaryFolder folder;
  const std::string gemm = R"({"single_duration_ms": 1, "count": 2, "total_duration_ms": )";
  const auto iteration = [&](const std::string& phase, const std::string& a, const std::string& b) {
    return R"({"iteration": 1, "phase": ")" + phase +
           R"(", "operator_durations": {"gemm": {"qkv": )" + gemm + a + R"(}}, "attention": )" +
           gemm + b + "}}, \"total_duration_ms\": 1}";
  };
  const PredictedCase p =
      read(folder, "p.json",
           R"({"iterations": [)" + iteration("prefill", "5", "7") + "," +
               iteration("decode", "2", "3") + "," + iteration("decode", "4", "3") +
               R"(], "summary": {"prefill_duration_ms": 12, "decode_avg_duration_ms": 6,
                  "total_duration_ms": 24}})");
  ASSERT_EQ(p.operators.size(), 2u);
  EXPECT_EQ(p.operators[0].group, "gemm");
  EXPECT_EQ(p.operators[0].name, "qkv");
  EXPECT_DOUBLE_EQ(p.operators[0].ms[Metric::prefill], 5);
  EXPECT_DOUBLE_EQ(p.operators[0].ms[Metric::decode], 3) << "an average step";
  EXPECT_DOUBLE_EQ(p.operators[0].ms[Metric::total], 11);
  EXPECT_EQ(p.operators[1].name, "attention");
  EXPECT_DOUBLE_EQ(p.operators[1].ms[Metric::total], 13);
}

TEST(PredictionFile, CsvPredictions) {
  const TemporaryFolder folder;
  const auto cases =
      read_predictions(folder.file("p.csv", "name,pred_ms\na,5\nM-7B_arxiv_1_fa2_tp1_H20,6\n"),
                       shipped_catalog(), no_warning);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].name.label, "a");
  EXPECT_FALSE(cases[0].name.told());
  EXPECT_EQ(cases[0].ms[Metric::total], 5);
  EXPECT_EQ(cases[1].name.gpu, "H20");
  EXPECT_THAT(error_of([&] {
                read_predictions(folder.file("q.csv", "name,pred_ms\na,5\na,6\n"),
                                 shipped_catalog(), no_warning);
              }),
              HasSubstr("case 'a' has 2 values of total, expected one prediction"));
}

TEST(PredictionFile, ACsvOfBothSidesIsNotComparedWithItself) {
  const TemporaryFolder folder;
  const auto both = folder.file("both.csv", "name,pred_ms,real_ms\na,5,4\n");
  const auto cases = read_predictions(both, shipped_catalog(), no_warning);
  EXPECT_EQ(cases[0].ms[Metric::total], 5);
  const auto runs = read_measurements(both, shipped_catalog(), no_warning)[0].runs;
  EXPECT_EQ(runs[0].ms[Metric::total], 4);
  EXPECT_THAT(error_of([&] {
                read_predictions(folder.file("r.csv", "name,real_ms\na,4\n"), shipped_catalog(),
                                 no_warning);
              }),
              HasSubstr("r.csv has no column of predicted times, expected pred_ms or value_ms, in "
                        "milliseconds"));
}

TEST(PredictionFile, RefusesWhatIsNoPrediction) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "summary is missing: expected a prediction"},
      {"[]", "expected an object"},
      {"{\"summary\": 3}", "summary is 3"},
      {"{\"summary\": {}, \"tp_size\": 0}", "tp_size is 0"},
      {"{\"summary\": {}, \"case\": {\"model\": 3}}", "case.model is 3"},
      {"{\"summary\": {}, \"iterations\": [{\"phase\": \"decode\", \"operator_durations\": "
       "{\"gemm\": {\"a\": {}}}}]}",
       "operator_durations.gemm.a.total_duration_ms is missing"},
      {"{\"summary\": {}, \"iterations\": [{}, {\"phase\": \"warmup\", \"operator_durations\": "
       "{\"attention\": {\"total_duration_ms\": 1}}}]}",
       "iterations[1].phase is \"warmup\", expected prefill or decode"},
      {"{\"summary\": {}, \"iterations\": [{\"phase\": 3, \"operator_durations\": {}}]}",
       "iterations[0].phase is 3"},
      {"{\"summary\": {}, \"iterations\": [7]}", "iterations[0]"},
      {"{\"summary\": ", "bad.json:1: "},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(error_of([&] { read(folder, "bad.json", text, [](const std::string&) {}); }),
                HasSubstr(message))
        << text;
  }
}

}  // namespace
}  // namespace pw
