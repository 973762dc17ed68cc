#include <cmath>

#include "compare/format.h"
#include "io/csv_table.h"
#include "pw/comparison.h"

namespace pw {
namespace {

constexpr int kMsDecimals = 3;
constexpr int kPercentDecimals = 4;

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  }
  return line + "\n";
}

// The published columns first, then ours.
std::vector<std::string> header() {
  std::vector<std::string> cells{"Hardware", "TP", "PP", "Model", "Workload", "FA_Version"};
  const auto for_each = [&](std::string_view before, std::string_view after) {
    for (const Metric metric : kMetrics) {
      cells.push_back(std::string(before) + std::string(to_string(metric)) + std::string(after));
    }
  };
  for (const Metric metric : kMetrics) {
    const std::string name(to_string(metric));
    cells.insert(cells.end(),
                 {"pred_" + name + "_ms", "real_" + name + "_ms", "MAPE_" + name + "(%)"});
  }
  cells.push_back("avg_MAPE(%)");
  for_each("signed_error_", "(%)");
  cells.push_back("n_runs");
  for_each("n_usable_", "");
  for_each("real_min_", "_ms");
  for_each("real_max_", "_ms");
  cells.insert(cells.end(), {"rule", "engine", "gpu_in_training", "case"});
  for_each("p10_", "_ms");
  for_each("p90_", "_ms");
  return cells;
}

std::vector<std::string> cells_of(const ComparisonRow& row) {
  std::vector<std::string> cells{row.name.gpu,
                                 std::to_string(row.name.tp),
                                 std::to_string(row.name.pp),
                                 row.name.model,
                                 row.name.trace,
                                 row.name.kernel};
  for (const MetricComparison& m : row.metrics.values) {
    const auto error = m.signed_error();
    cells.push_back(shortest(m.predicted_ms, kMsDecimals));
    cells.push_back(shortest(m.measured_ms, kMsDecimals));
    cells.push_back(
        shortest(error ? std::optional(std::fabs(*error)) : std::nullopt, kPercentDecimals));
  }
  cells.push_back(shortest(row.mean_absolute_error(), kPercentDecimals));
  const auto for_each = [&](auto&& cell) {
    for (const MetricComparison& m : row.metrics.values) cells.push_back(cell(m));
  };
  for_each([](const auto& m) { return shortest(m.signed_error(), kPercentDecimals); });
  cells.push_back(std::to_string(row.runs));
  for_each([](const auto& m) { return std::to_string(m.runs); });
  for_each([](const auto& m) { return shortest(m.min_ms, kMsDecimals); });
  for_each([](const auto& m) { return shortest(m.max_ms, kMsDecimals); });
  const char* seen = !row.gpu_seen ? "" : *row.gpu_seen ? "yes" : "no";
  cells.insert(cells.end(), {row.rule, row.name.engine, seen, row.name.label});
  const auto bound = [](const MetricComparison& m, double RangeMs::*end) {
    return shortest(m.band ? std::optional(*m.band.*end) : std::nullopt, kMsDecimals);
  };
  for_each([&](const auto& m) { return bound(m, &RangeMs::p10); });
  for_each([&](const auto& m) { return bound(m, &RangeMs::p90); });
  return cells;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison, std::string_view method) {
  std::string text = line_of(header());
  for (const ComparisonRow& row : comparison.rows) {
    if (row.method == method) text += line_of(cells_of(row));
  }
  return text;
}

std::string summary_csv(const std::vector<ErrorSummary>& summaries) {
  std::string text = line_of({"method", "engine", "scope", "group", "phase", "n", "n_excluded",
                              "mean(%)", "mean_low(%)", "mean_high(%)", "median(%)", "p90(%)",
                              "max(%)", "bias(%)", "n_with_band", "n_within_band"});
  for (const ErrorSummary& s : summaries) {
    const auto number = [&](std::optional<double> value) {
      return shortest(s.n > 0 ? value : std::nullopt, kPercentDecimals);
    };
    text += line_of({s.method, s.engine, s.scope, s.group, std::string(to_string(s.metric)),
                     std::to_string(s.n), std::to_string(s.excluded), number(s.mean),
                     number(s.mean_low), number(s.mean_high), number(s.median), number(s.p90),
                     number(s.max), number(s.bias), std::to_string(s.banded),
                     std::to_string(s.within_band)});
  }
  return text;
}

}  // namespace pw
