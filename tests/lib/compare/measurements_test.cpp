#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/compare/comparison_fixture.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// D01: another key for the number of the run, blank lines, CRLF, a byte-order mark, no last line
// end.
TEST(Measurements, D01ReadsEveryVariantOfTheFile) {
  const std::string a = R"({"run_name": "M-7B-t", "iteration": 3, "prefill_latency": 0.2,)"
                        R"( "median_decode_latency": 0.01, "total_latency": 1.2})";
  const std::string b = R"({"run_name": "M-7B-t", "iteration": 4, "prefill_latency": 0.3,)"
                        R"( "median_decode_latency": 0.02, "total_latency": 1.3})";
  std::string other_key = a + "\n" + b;
  for (std::size_t at; (at = other_key.find("\"iteration\"")) != std::string::npos;) {
    other_key.replace(at, 11, "\"iterations\"");
  }
  const std::string variants[] = {a + "\n" + b + "\n", other_key,
                                  "\xEF\xBB\xBF\r\n" + a + "\r\n  \r\n" + b + "\r\n\r\n"};
  const TemporaryFolder folder;
  for (const std::string& text : variants) {
    const auto cases =
        read_measurements(folder.file("e2e_tp2_H100.jsonl", text), shipped_catalog(), no_warning);
    ASSERT_EQ(cases.size(), 1u);
    EXPECT_EQ(cases[0].run_name, "M-7B-t");
    EXPECT_EQ(cases[0].gpu, "H100");
    EXPECT_EQ(cases[0].tp, 2);
    EXPECT_EQ(cases[0].pp, 1);
    ASSERT_EQ(cases[0].runs.size(), 2u);
    EXPECT_EQ(cases[0].runs[1].iteration, 4);
    EXPECT_DOUBLE_EQ(*cases[0].runs[0].ms[Metric::prefill], 200);
    EXPECT_DOUBLE_EQ(*cases[0].runs[1].ms[Metric::decode], 20);
    EXPECT_DOUBLE_EQ(*cases[0].runs[1].ms[Metric::total], 1300);
  }
}

// D02 and D03: what cannot be used is n/a, and the warning names file, line and run.
TEST(Measurements, D03UnusableValuesAreNotAvailable) {
  const TemporaryFolder folder;
  const auto path = folder.file("real.jsonl", run_line("M-t", 0, "0.1", "NaN", "0") +
                                                  run_line("M-t", 1, "null", "-0.1", "Infinity") +
                                                  "{\"run_name\": \"M-t\", \"iteration\": 2}\n");
  Warnings warnings;
  const auto cases = read_measurements(path, shipped_catalog(), warnings.sink());
  ASSERT_EQ(cases.size(), 1u);
  ASSERT_EQ(cases[0].runs.size(), 3u);
  EXPECT_TRUE(cases[0].runs[0].ms[Metric::prefill]);
  std::size_t usable = 0;
  for (const MeasuredRun& run : cases[0].runs) {
    for (const auto& value : run.ms.values) usable += value ? 1 : 0;
  }
  EXPECT_EQ(usable, 1u);
  const std::string file = path.string();
  EXPECT_THAT(
      warnings.texts,
      ElementsAre(file + ":1: NaN or Infinity is no JSON number and counts as n/a",
                  file + ":2: NaN or Infinity is no JSON number and counts as n/a",
                  file + ":1: run.median_decode_latency is null in iteration 0, n/a",
                  file + ":1: run.total_latency is 0, not above 0 in iteration 0, n/a",
                  file + ":2: run.prefill_latency is null in iteration 1, n/a",
                  file + ":2: run.median_decode_latency is -0.1, not above 0 in iteration 1, n/a",
                  file + ":2: run.total_latency is null in iteration 1, n/a",
                  file + ":3: run.prefill_latency is missing in iteration 2, n/a",
                  file + ":3: run.median_decode_latency is missing in iteration 2, n/a",
                  file + ":3: run.total_latency is missing in iteration 2, n/a"));
}

TEST(Measurements, TextsThatLookLikeNaNStay) {
  const TemporaryFolder folder;
  const auto path = folder.file("real.jsonl", run_line("NaN \\\"NaN-Infinity", 0, "1", "1", "1"));
  const auto cases = read_measurements(path, shipped_catalog(), no_warning);
  EXPECT_EQ(cases[0].run_name, "NaN \"NaN-Infinity");
}

TEST(Measurements, GpuAndSizesOfTheFileName) {
  struct Named {
    const char* file;
    const char* gpu;
    std::optional<std::int64_t> tp, pp;
  };
  const Named names[] = {
      {"e2e_A100.jsonl", "A100", 1, 1},
      {"e2e_RTX_6000_Ada.jsonl", "RTX_6000_Ada", 1, 1},
      {"e2e_tp8_pp2_NVIDIA_H20.jsonl", "H20", 8, 2},
      {"e2e_tpu_v5.jsonl", "tpu_v5", 1, 1},
      {"bench.jsonl", "", std::nullopt, std::nullopt},
  };
  const TemporaryFolder folder;
  for (const Named& named : names) {
    const auto path = folder.file(named.file, run_line("M-t", 0, "1", "1", "1"));
    const auto cases = read_measurements(path, shipped_catalog(), no_warning);
    EXPECT_EQ(cases[0].gpu, named.gpu) << named.file;
    EXPECT_EQ(cases[0].tp, named.tp) << named.file;
    EXPECT_EQ(cases[0].pp, named.pp) << named.file;
  }
}

TEST(Measurements, VllmMeasuresTheTotal) {
  const TemporaryFolder folder;
  const auto path = folder.file("vllm_arxiv16_RTX_A6000_llama70B.json",
                                R"({"avg_latency": 9, "latencies": [1.5, NaN, 2.5]})");
  Warnings warnings;
  const auto cases = read_measurements(path, shipped_catalog(), warnings.sink());
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].engine, "vllm");
  EXPECT_EQ(cases[0].trace, "arxiv16");
  EXPECT_EQ(cases[0].gpu, "RTX_A6000");
  EXPECT_EQ(cases[0].run_name, "llama70b");
  ASSERT_EQ(cases[0].runs.size(), 3u);
  EXPECT_DOUBLE_EQ(*cases[0].runs[2].ms[Metric::total], 2500);
  EXPECT_FALSE(cases[0].runs[1].ms[Metric::total]);
  EXPECT_FALSE(cases[0].covers[Metric::prefill]);
  EXPECT_EQ(warnings.texts.size(), 2u);
}

TEST(Measurements, VllmWithoutSingleRuns) {
  const TemporaryFolder folder;
  Warnings warnings;
  const auto cases = read_measurements(folder.file("a.json", R"({"avg_latency": 2})"),
                                       shipped_catalog(), warnings.sink());
  ASSERT_EQ(cases[0].runs.size(), 1u);
  EXPECT_DOUBLE_EQ(*cases[0].runs[0].ms[Metric::total], 2000);
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("latencies is missing, avg_latency counts as one run"));
}

TEST(Measurements, CsvRowsOfACaseAreItsRuns) {
  const TemporaryFolder folder;
  const auto path = folder.file("m.csv",
                                "case,metric,value_ms\na,ttft,10\na,prefill,12\na,e2e,100\n"
                                "Demo-7B_arxiv_8_fa2_tp1_pp1_NVIDIA_L40,total,5\n");
  const auto cases = read_measurements(path, shipped_catalog(), no_warning);
  ASSERT_EQ(cases.size(), 2u);
  ASSERT_EQ(cases[0].runs.size(), 2u);
  EXPECT_DOUBLE_EQ(*cases[0].runs[1].ms[Metric::prefill], 12);
  EXPECT_FALSE(cases[0].runs[1].ms[Metric::total]);
  EXPECT_TRUE(cases[0].covers[Metric::total]);
  EXPECT_FALSE(cases[0].covers[Metric::decode]);
  EXPECT_FALSE(cases[0].told);
  ASSERT_TRUE(cases[1].told);
  EXPECT_EQ(cases[1].told->gpu, "L40");
}

TEST(Measurements, FoldersNameWhatTheyDoNotRead) {
  const TemporaryFolder folder;
  folder.file("e2e_A100.jsonl", run_line("M-t", 0, "1", "1", "1"));
  folder.file("vllm_t_A100_m.json", R"({"latencies": [1]})");
  folder.file("notes.txt", "hello");
  Warnings warnings;
  const auto cases = read_measurements(folder.path(), shipped_catalog(), warnings.sink());
  EXPECT_EQ(cases.size(), 2u);
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("notes.txt is not read: expected e2e_*.jsonl"));
}

struct Bad {
  const char* name;
  const char* text;
  const char* message;
};

TEST(Measurements, RefusesWhatIsNoMeasurement) {
  const Bad cases[] = {
      {"e2e_A100.jsonl", "", "e2e_A100.jsonl"},
      {"e2e_A100.jsonl", "{\"run_name\": \"a\"\n", "e2e_A100.jsonl:1: "},
      {"e2e_A100.jsonl", "\n\n{\"run_name\": }\n", "e2e_A100.jsonl:3: "},
      {"e2e_A100.jsonl", "[1]\n", ":1: expected an object with the keys run_name"},
      {"e2e_A100.jsonl", "{\"run_name\": \"a\", \"iteration\": \"x\"}\n",
       ":1: run.iteration is \"x\""},
      {"e2e_A100.jsonl", "{\"iteration\": 1}\n", "holds no run with a run_name"},
      {"vllm.json", "{}", "latencies is missing: expected a result of vLLM's latency benchmark"},
      {"m.csv", "case,value_ms\na,1\n", "metric"},
      {"m.csv", "name,pred_ms\na,1\n",
       "no column of measured times, expected real_ms or value_ms, in milliseconds"},
      {"m.csv", "real_ms\n1\n", "case"},
      {"m.csv", "name,metric,real_ms\na,speed,1\n", "\"speed\", expected prefill (ttft)"},
      {"m.csv", "case,metric,value_ms\n", "no data rows"},
      {"m.csv", "case,metric,value_ms\n,total,1\n", "case"},
  };
  for (const Bad& bad : cases) {
    const TemporaryFolder folder;
    const auto path = folder.file(bad.name, bad.text);
    EXPECT_THAT(
        error_of([&] { read_measurements(path, shipped_catalog(), [](const std::string&) {}); }),
        HasSubstr(bad.message))
        << bad.text;
  }
}

}  // namespace
}  // namespace pw
