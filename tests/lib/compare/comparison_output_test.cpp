#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/html_charts.h"
#include "io/csv_table.h"
#include "io/json_file.h"
#include "pw/comparison.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// One case with all metrics, one without decode, in names that need quoting.
Comparison two_cases() {
  Comparison comparison;
  comparison.methods = {"m<1>"};
  ComparisonRow row;
  row.method = "m<1>";
  row.name = {"Demo_1", "sglang", "Demo-7B", "a,b_8", "fa2", "RTX_6000_Ada", 2, 1};
  row.gpu_seen = false;
  row.runs = 5;
  row.rule = "median of 5";
  for (const Metric metric : kMetrics) {
    row.metrics[metric] = {true, 110.12345, 100.0, 99.0, 104.0, 5, "median of 5"};
  }
  row.operators = {{"gemm", "qkv_proj", {{3, 1, 9}}}, {"attention", "attention", {{1, 3, 5}}}};
  comparison.rows.push_back(row);
  row.name.label = "Demo_2";
  row.metrics[Metric::decode] = {true,         0.5, std::nullopt,          std::nullopt,
                                 std::nullopt, 0,   "median of 0 (5 runs)"};
  comparison.rows.push_back(row);
  comparison.excluded = {"m<1>: Demo_2: decode: no usable value in 5 measured runs"};
  comparison.unmatched = {"x & y: no prediction"};
  return comparison;
}

TEST(ComparisonOutput, CsvHasThePublishedColumnsFirst) {
  const std::string text = comparison_csv(two_cases(), "m<1>");
  EXPECT_EQ(text.rfind("Hardware,TP,PP,Model,Workload,FA_Version,pred_prefill_ms,real_prefill_ms,"
                       "MAPE_prefill(%),pred_decode_ms,real_decode_ms,MAPE_decode(%),"
                       "pred_total_ms,real_total_ms,MAPE_total(%),avg_MAPE(%),",
                       0),
            0u);
  const TemporaryFolder folder;
  const CsvTable csv = CsvTable::read(folder.file("c.csv", text));
  csv.require_no_bad_lines();
  ASSERT_EQ(csv.rows(), 2u);
  const auto cell = [&](std::size_t r, const char* column) {
    return csv.cell(r, csv.column(column));
  };
  EXPECT_EQ(cell(0, "Workload"), "a,b_8");
  EXPECT_EQ(cell(0, "pred_total_ms"), "110.123");
  EXPECT_EQ(cell(0, "MAPE_total(%)"), "10.1235");
  EXPECT_EQ(cell(0, "signed_error_decode(%)"), "10.1235");
  EXPECT_EQ(cell(0, "n_runs"), "5");
  EXPECT_EQ(cell(0, "real_max_prefill_ms"), "104.0");
  EXPECT_EQ(cell(0, "rule"), "median of 5");
  EXPECT_EQ(cell(0, "gpu_in_training"), "no");
  EXPECT_EQ(cell(1, "MAPE_decode(%)"), "n/a");
  EXPECT_EQ(cell(1, "real_decode_ms"), "n/a");
  EXPECT_EQ(cell(1, "n_usable_decode"), "0");
  EXPECT_EQ(cell(1, "avg_MAPE(%)"), "10.1235") << "over the metrics that have an error";
  EXPECT_EQ(comparison_csv(two_cases(), "other").find('\n'),
            comparison_csv(two_cases(), "other").size() - 1);
}

TEST(ComparisonOutput, SummaryCsvHasNoNumberWithoutACase) {
  Comparison comparison = two_cases();
  comparison.rows.erase(comparison.rows.begin());
  const std::string text = summary_csv(summarise(comparison));
  EXPECT_THAT(text, HasSubstr("m<1>,sglang,all,,decode,0,1,n/a,n/a,n/a,n/a,n/a,n/a,n/a,0,0\n"));
  EXPECT_THAT(text, HasSubstr("m<1>,sglang,gpu,RTX_6000_Ada,total,1,0,10.1235,n/a,n/a,10.1235"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(ComparisonOutput, JsonHasTheSameNumbers) {
  const Comparison comparison = two_cases();
  const Json json = parse_json(comparison_json(comparison, summarise(comparison)), "json");
  EXPECT_EQ(json["rule"], "median");
  EXPECT_EQ(json["cases"].size(), 2u);
  EXPECT_NEAR(json["cases"][0]["total"]["signed_error_percent"].get<double>(), 10.12345, 1e-9);
  EXPECT_TRUE(json["cases"][1]["decode"]["measured_ms"].is_null());
  EXPECT_EQ(json["cases"][0]["gpu_in_training"], false);
  EXPECT_EQ(json["unmatched"].size(), 1u);
  EXPECT_EQ(json["summaries"][0]["n"], 2);
}

TEST(ComparisonOutput, TextStatesTheRuleAndWhatIsLeftOut) {
  Comparison comparison = two_cases();
  const std::string text = comparison_text(comparison, summarise(comparison));
  EXPECT_THAT(text, HasSubstr("Measured value: median of the runs of each case, by metric\n"));
  EXPECT_THAT(text, HasSubstr("excluded: m<1>: Demo_2: decode: no usable value"));
  EXPECT_THAT(text, HasSubstr("unmatched: x & y: no prediction"));
  EXPECT_THAT(text, HasSubstr("99.00 - 104.00"));
  EXPECT_EQ(count(text, " median of 5\n"), 5u);
  EXPECT_EQ(count(text, " median of 0 (5 runs)\n"), 1u);
  comparison.rule = RunRule::best;
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("closest to the prediction: flatters"));
}

TEST(ComparisonOutput, MarkdownTables) {
  const Comparison comparison = two_cases();
  const std::string text = comparison_markdown(comparison, summarise(comparison));
  EXPECT_THAT(text, HasSubstr("| m<1> | SGLang | decode | 10.12 | n/a | 10.12 | 10.12 | 10.12 | "
                              "10.12 | 1 | 1 |\n"));
  EXPECT_THAT(text, HasSubstr("### Mean error by GPU: SGLang, total"));
  EXPECT_THAT(text, HasSubstr("- x & y: no prediction"));
  EXPECT_THAT(text, HasSubstr("| 2 | 1 | median of 5 |"));
  EXPECT_THAT(text, HasSubstr("| prefill median of 5, decode median of 0 (5 runs), total median"));
}

TEST(ComparisonOutput, HtmlIsSelfContainedAndEscaped) {
  const Comparison comparison = two_cases();
  const std::string html = comparison_html(comparison, summarise(comparison));
  EXPECT_EQ(count(html, "<circle"), 5u) << "two cases, one without decode";
  EXPECT_EQ(count(html, "<svg"), 7u) << "three panels, three bar charts, one of operators";
  EXPECT_EQ(count(html, "<svg"), count(html, "<desc>"));
  EXPECT_THAT(html, HasSubstr("m&lt;1&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("m<1>")));
  EXPECT_THAT(html, HasSubstr("qkv_proj 3.000 ms, 75.0 %"));
  for (const char* outside : {"src=", "href=", "@import", "url(http", "fetch("}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(ComparisonOutput, HtmlTellsTwelveMethodsApart) {
  Comparison comparison = two_cases();
  const ComparisonRow row = comparison.rows[0];
  comparison.methods.clear();
  comparison.rows.clear();
  std::set<std::string> colors;
  for (std::size_t i = 0; i < 12; ++i) {
    comparison.methods.push_back("m" + std::to_string(i));
    comparison.rows.push_back(row);
    comparison.rows.back().method = comparison.methods.back();
    colors.insert(method_color(i));
  }
  EXPECT_EQ(colors.size(), 10u);
  const std::string html = comparison_html(comparison, summarise(comparison));
  EXPECT_EQ(count(html, "<circle"), 3 * 10u);
  EXPECT_EQ(count(html, "<polygon points="), 3 * 2u) << "the 11th and 12th";
  EXPECT_THAT(html, HasSubstr(">m9</li>"));
  EXPECT_THAT(html, HasSubstr(">m10 (squares)</li>"));
}

TEST(ComparisonOutput, HtmlTellsTheEnginesOperatorsApart) {
  Comparison comparison = two_cases();
  auto& operators = comparison.rows[0].operators;
  const std::vector<std::string> names{"rmsnorm",  "siluandmul", "rope",   "kv_store", "qk_norm",
                                       "kv_merge", "embedding",  "logits", "host"};
  for (const std::string& name : names) {
    const bool own_group = name == "rmsnorm" || name == "siluandmul";
    operators.push_back({own_group ? name : "engine", name, {{1, 1, 2}}});
  }
  const std::string chart = operator_share_chart(comparison, "m<1>");
  std::set<std::string> colors;
  for (const OperatorTotal& each : operators) {
    const std::size_t end = chart.find("\">" + each.name + "</li>");
    ASSERT_NE(end, std::string::npos) << each.name;
    colors.insert(chart.substr(end - 7, 7));
  }
  EXPECT_EQ(colors.size(), operators.size());
  EXPECT_THAT(chart, HasSubstr("border-left-color:#c51b7d\">host</li>"));
}

TEST(ComparisonOutput, HtmlWithoutAnyNumber) {
  Comparison comparison = two_cases();
  for (ComparisonRow& row : comparison.rows) {
    row.operators.clear();
    for (MetricComparison& m : row.metrics.values) m.measured_ms.reset();
  }
  const std::string html = comparison_html(comparison, summarise(comparison));
  EXPECT_EQ(count(html, "<svg"), 0u);
  EXPECT_THAT(html, HasSubstr("<h2>Cases</h2>"));
}

}  // namespace
}  // namespace pw
