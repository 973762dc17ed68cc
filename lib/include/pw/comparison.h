#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/hardware_catalog.h"
#include "pw/workload.h"

namespace pw {

// What is compared. Prefill is the time to the first token, decode the time per output token after
// it, total the whole batch.
enum class Metric { prefill, decode, total };
inline constexpr std::array<Metric, 3> kMetrics{Metric::prefill, Metric::decode, Metric::total};
std::string_view to_string(Metric metric);
std::optional<Metric> find_metric(std::string_view name);  // also "ttft", "tpot", "e2e"

// One value for each metric. An empty time is n/a: never 0, never NaN.
template <class Value>
struct PerMetric {
  std::array<Value, 3> values{};
  Value& operator[](Metric metric) { return values[static_cast<std::size_t>(metric)]; }
  const Value& operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
};
using TimesMs = PerMetric<std::optional<double>>;
// The p10 and p90 that a prediction gives; empty where it gives none.
struct RangeMs {
  double p10 = 0, p90 = 0;
};

// Called with one sentence for each thing that a reader of the result should know.
using Warn = std::function<void(const std::string&)>;

// What was run where. `label` is what the user calls the case: the file's stem or the name in a
// CSV; a case whose model and trace are empty is known by its label alone.
struct CaseName {
  std::string label;
  std::string engine = "sglang";  // or "vllm"
  std::string model;              // "Qwen2.5-14B"
  std::string trace;              // "arxiv_8"
  std::string kernel;             // "fa2"; no part of what makes two cases equal
  std::string gpu;                // "RTX_6000_Ada": the catalog's stem where it is known
  std::int64_t tp = 1;
  std::int64_t pp = 1;

  bool told() const { return !model.empty() && !trace.empty(); }
};

// "<model>_<trace>[_<kernel>][_tp<N>][_pp<N>]_<GPU>[_<method>]", the names of published files; a
// vLLM trace is written "vllm_<trace>". Empty when the text does not have that form.
std::optional<CaseName> parse_case_name(std::string_view stem);

struct OperatorTotal {
  std::string group;  // "gemm"
  std::string name;   // "qkv_proj"; the group's name where it has one entry
  PerMetric<double> ms;
};

// What one prediction says about one case.
struct PredictedCase {
  std::filesystem::path file;
  CaseName name;
  TimesMs ms;
  std::optional<bool> gpu_seen;          // in training; empty when the file does not tell
  std::vector<OperatorTotal> operators;  // in the file's order; empty when it has none
  PerMetric<std::optional<RangeMs>> bands = {};
};
struct Method {
  std::string name;
  std::vector<PredictedCase> cases;
};

// Predictions of one method: a JSON file of pw-predict or of the published form, a CSV, or all JSON
// files of a folder in the order of their names. Throws DataError for what is none of these.
std::vector<PredictedCase> read_predictions(const std::filesystem::path& path,
                                            const HardwareCatalog& catalog, const Warn& warn);
// One JSON file.
PredictedCase read_prediction_file(const std::filesystem::path& path,
                                   const HardwareCatalog& catalog, const Warn& warn);

struct MeasuredRun {
  std::int64_t iteration = 0;
  TimesMs ms;
};

// The runs of one case. What the source does not tell stays empty and is then not compared.
struct MeasuredCase {
  std::filesystem::path file;
  std::string engine;              // "sglang", "vllm"; empty for a CSV
  std::string run_name;            // "<model>-<trace>", a vLLM model tag, or the name in a CSV
  std::string trace;               // vLLM only
  std::string gpu;                 // "" = not told
  std::optional<std::int64_t> tp;  // not told: any
  std::optional<std::int64_t> pp;
  std::optional<CaseName> told;  // a CSV's name that has the form of a published one
  PerMetric<bool> covers{};      // the metrics that the source is about
  std::vector<MeasuredRun> runs;
};

// Measurements of a folder (e2e_*.jsonl, vllm_*.json, *.csv; other files are named in a warning) or
// of one file. Values that cannot be used (absent, null, NaN, not above 0) are n/a with a warning
// that names file and line; what is no measurement at all is a DataError.
std::vector<MeasuredCase> read_measurements(const std::filesystem::path& path,
                                            const HardwareCatalog& catalog, const Warn& warn);

// Which of several runs counts as the measured value. `best` and `worst` are the run whose mean
// error is smallest or largest, which depends on the prediction; the others are taken per metric.
enum class RunRule { median, mean, best, worst, without_first };
std::string_view to_string(RunRule rule);
std::optional<RunRule> find_run_rule(std::string_view name);

struct MetricComparison {
  bool covered = false;  // the measurement is about this metric: a missing value counts as n/a
  std::optional<double> predicted_ms;
  std::optional<double> measured_ms;
  std::optional<double> min_ms, max_ms;  // over all runs
  std::size_t runs = 0;                  // with a usable value
  std::string rule = {};                 // "median of 1 (5 runs)": of the usable values
  std::optional<RangeMs> band = {};      // of the prediction

  // Whether the measured value lies between p10 and p90; empty unless all are known.
  std::optional<bool> within_band() const;
  // (predicted - measured) / measured in %; empty unless both are known.
  std::optional<double> signed_error() const;
};

struct ComparisonRow {
  std::string method;
  CaseName name;
  std::optional<bool> gpu_seen;
  std::size_t runs = 0;  // measured for the case
  std::string rule;      // "median of 5": of the case, each metric has its own
  PerMetric<MetricComparison> metrics;
  std::vector<OperatorTotal> operators;

  std::optional<double> mean_absolute_error() const;  // over the metrics that have one, %
};

struct Comparison {
  RunRule rule = RunRule::median;
  std::vector<std::string> methods;    // in the order given
  std::vector<ComparisonRow> rows;     // by method, engine, GPU, model, trace
  std::vector<std::string> unmatched;  // cases without a partner or with more than one
  std::vector<std::string> excluded;   // metrics that are n/a, with the reason
  std::vector<std::string> notes;  // values that look like another unit, pairs whose names differ
};

// Cases that are equal in model, trace, tp, pp, GPU and engine. A case that more than one
// prediction of a method or more than one measurement fits is ambiguous and not compared.
Comparison compare(const std::vector<Method>& methods, const std::vector<MeasuredCase>& measured,
                   RunRule rule);

// One prediction with the runs called `run_name`, whatever GPU the two name. Without a run name:
// the runs of the prediction's own case, else those of the only case there is, with a note
// where its name is another; otherwise a DataError that lists the names. Two CSVs, and files with
// several cases, are compared by the names of their cases alone.
Comparison compare_pair(const std::vector<Method>& methods,
                        const std::vector<MeasuredCase>& measured,
                        const std::optional<std::string>& run_name, RunRule rule);

// Errors of a group of cases, in %.
struct ErrorSummary {
  std::string method;
  std::string engine;
  std::string scope;  // "all", "gpu", "model", "seen"
  std::string group;  // "" for all; "A100"; "seen", "unseen"
  Metric metric = Metric::total;
  std::size_t n = 0;
  std::size_t excluded = 0;  // n/a
  // Of absolute errors, except bias: the mean of signed errors. Meaningless while n = 0.
  double mean = 0, median = 0, p90 = 0, max = 0, bias = 0;
  // 95 % bootstrap interval of the mean (percentiles of 2000 resamples, fixed seed); from n = 2.
  std::optional<double> mean_low, mean_high;
  std::size_t banded = 0, within_band = 0;  // cases with a p10-p90, and those measured within it
};

// For every method and engine: all cases, then by GPU, model, and seen or unseen GPU. vLLM's
// latency benchmark measures the total alone, so its cases have no other metric.
std::vector<ErrorSummary> summarise(const Comparison& comparison);

// Renderings of the same numbers. Cells without a value are "n/a".
std::string comparison_csv(const Comparison& comparison, std::string_view method);
std::string summary_csv(const std::vector<ErrorSummary>& summaries);
std::string comparison_text(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries);
std::string comparison_markdown(const Comparison& comparison,
                                const std::vector<ErrorSummary>& summaries);
std::string comparison_json(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries);
// One self-contained page: no network, figures as inline SVG.
std::string comparison_html(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries);

}  // namespace pw
