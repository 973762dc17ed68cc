#include "compare/format.h"
#include "fact_json.h"
#include "io/json_file.h"
#include "pw/comparison.h"

namespace pw {
namespace {

Json number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json summary_json(const ErrorSummary& s) {
  const auto of_some = [&](std::optional<double> value) {
    return number(s.n > 0 ? value : std::nullopt);
  };
  return {{"method", s.method},
          {"engine", s.engine},
          {"scope", s.scope},
          {"group", s.group},
          {"phase", std::string(to_string(s.metric))},
          {"n", s.n},
          {"n_excluded", s.excluded},
          {"mean_percent", of_some(s.mean)},
          {"mean_low_percent", of_some(s.mean_low)},
          {"mean_high_percent", of_some(s.mean_high)},
          {"median_percent", of_some(s.median)},
          {"p90_percent", of_some(s.p90)},
          {"max_percent", of_some(s.max)},
          {"bias_percent", of_some(s.bias)},
          {"n_with_band", s.banded},
          {"n_within_band", s.within_band}};
}

Json metric_json(const MetricComparison& m) {
  const auto bound = [&](double RangeMs::*end) {
    return m.band ? Json(*m.band.*end) : Json(nullptr);
  };
  return {{"predicted_ms", number(m.predicted_ms)},
          {"measured_ms", number(m.measured_ms)},
          {"signed_error_percent", number(m.signed_error())},
          {"n_usable", m.runs},
          {"rule", m.rule},
          {"measured_min_ms", number(m.min_ms)},
          {"measured_max_ms", number(m.max_ms)},
          {"p10_ms", bound(&RangeMs::p10)},
          {"p90_ms", bound(&RangeMs::p90)}};
}

Json row_json(const ComparisonRow& row) {
  Json json{{"method", row.method},       {"case", row.name.label},  {"engine", row.name.engine},
            {"model", row.name.model},    {"trace", row.name.trace}, {"kernel", row.name.kernel},
            {"tp", row.name.tp},          {"pp", row.name.pp},       {"gpu", row.name.gpu},
            {"gpu_in_training", nullptr}, {"n_runs", row.runs},      {"rule", row.rule}};
  if (row.gpu_seen) json["gpu_in_training"] = *row.gpu_seen;
  for (const Metric metric : kMetrics) {
    json[std::string(to_string(metric))] = metric_json(row.metrics[metric]);
  }
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison,
                            const std::vector<ErrorSummary>& summaries) {
  Json json{{"rule", std::string(to_string(comparison.rule))},
            {"methods", comparison.methods},
            {"summaries", Json::array()},
            {"cases", Json::array()},
            {"notes", comparison.notes},
            {"excluded", comparison.excluded},
            {"unmatched", comparison.unmatched}};
  for (const ErrorSummary& summary : summaries) json["summaries"].push_back(summary_json(summary));
  for (const ComparisonRow& row : comparison.rows) json["cases"].push_back(row_json(row));
  json["schema_version"] = kSchemaVersion;
  return to_json_text(json) + "\n";
}

}  // namespace pw
