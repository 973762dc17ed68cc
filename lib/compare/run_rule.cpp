#include "compare/run_rule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "statistics.h"

namespace pw {
namespace {

constexpr std::array<std::string_view, 5> kRuleNames{"median", "mean", "best", "worst",
                                                     "without-first"};

std::vector<double> values_of(const std::vector<MeasuredRun>& runs, Metric metric) {
  std::vector<double> values;
  for (const MeasuredRun& run : runs) {
    if (run.ms[metric]) values.push_back(*run.ms[metric]);
  }
  return values;
}

TimesMs per_metric(const std::vector<MeasuredRun>& runs, double (*of)(std::vector<double>)) {
  TimesMs ms;
  for (const Metric metric : kMetrics) {
    const std::vector<double> values = values_of(runs, metric);
    if (!values.empty()) ms[metric] = of(values);
  }
  return ms;
}

struct RunError {
  std::size_t metrics = 0;  // that have an error
  double mean = 0;          // of the absolute errors, %
};

RunError error_of_run(const TimesMs& predicted, const MeasuredRun& run) {
  RunError error;
  for (const Metric metric : kMetrics) {
    if (predicted[metric] && run.ms[metric]) {
      error.mean += std::fabs(signed_error_percent(*predicted[metric], *run.ms[metric]));
      ++error.metrics;
    }
  }
  if (error.metrics > 0) error.mean /= static_cast<double>(error.metrics);
  return error;
}

// A run that lacks a metric must not win because of that: runs with most metrics come first.
TimesMs extreme_run(const TimesMs& predicted, const std::vector<MeasuredRun>& runs, double sign) {
  const auto first =
      std::min_element(runs.begin(), runs.end(), [&](const MeasuredRun& a, const MeasuredRun& b) {
        const RunError x = error_of_run(predicted, a), y = error_of_run(predicted, b);
        return x.metrics != y.metrics ? x.metrics > y.metrics : sign * x.mean < sign * y.mean;
      });
  return first == runs.end() ? TimesMs{} : first->ms;
}

std::vector<MeasuredRun> without_first(std::vector<MeasuredRun> runs) {
  const auto first = std::min_element(
      runs.begin(), runs.end(),
      [](const MeasuredRun& a, const MeasuredRun& b) { return a.iteration < b.iteration; });
  if (first != runs.end()) runs.erase(first);
  return runs;
}

}  // namespace

std::string_view to_string(RunRule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

std::optional<RunRule> find_run_rule(std::string_view name) {
  for (std::size_t i = 0; i < kRuleNames.size(); ++i) {
    if (kRuleNames[i] == name) return static_cast<RunRule>(i);
  }
  return std::nullopt;
}

TimesMs measured_times(const TimesMs& predicted, const std::vector<MeasuredRun>& runs,
                       RunRule rule) {
  switch (rule) {
    case RunRule::median:
      return per_metric(runs, median);
    case RunRule::mean:
      return per_metric(runs, [](std::vector<double> values) { return mean(values); });
    case RunRule::best:
      return extreme_run(predicted, runs, 1);
    case RunRule::worst:
      return extreme_run(predicted, runs, -1);
    case RunRule::without_first:
      return per_metric(without_first(runs), median);
  }
  return {};
}

std::string rule_label(RunRule rule, std::size_t runs) {
  if (rule != RunRule::without_first) {
    return std::string(to_string(rule)) + " of " + std::to_string(runs);
  }
  return "median of " + std::to_string(runs > 0 ? runs - 1 : 0) + " without the first";
}

std::string rule_label(RunRule rule, const std::vector<MeasuredRun>& runs, Metric metric) {
  // These choose among all runs, whichever metrics the runs have.
  if (rule == RunRule::best || rule == RunRule::worst) return rule_label(rule, runs.size());
  const std::vector<MeasuredRun> rest = rule == RunRule::without_first ? without_first(runs) : runs;
  const std::size_t usable = values_of(rest, metric).size();
  if (usable == rest.size()) return rule_label(rule, runs.size());
  const std::size_t left_out = runs.size() - rest.size();
  return rule_label(rule, usable + left_out) + " (" + std::to_string(runs.size()) +
         (runs.size() == 1 ? " run)" : " runs)");
}

}  // namespace pw
