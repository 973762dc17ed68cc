#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "comma_list.h"
#include "compare/case_name.h"
#include "compare/run_rule.h"
#include "pw/comparison.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

bool same_vllm_case(const CaseName& p, const MeasuredCase& m) {
  return p.told() && p.engine == "vllm" && p.trace == m.trace &&
         (m.gpu.empty() || p.gpu == m.gpu) &&
         (m.run_name == vllm_model_tag(p.model) || m.run_name == lower_case(p.model));
}

bool same_sglang_case(const CaseName& p, const MeasuredCase& m) {
  if (!p.told()) return p.label == m.run_name;
  return p.engine != "vllm" && run_name_of(p) == m.run_name && p.tp == m.tp.value_or(p.tp) &&
         p.pp == m.pp.value_or(p.pp) && (m.gpu.empty() || p.gpu == m.gpu);
}

bool same_csv_case(const CaseName& p, const MeasuredCase& m) {
  if (p.label == m.run_name) return true;
  if (!p.told() || !m.told) return false;
  const auto identity = [](const CaseName& name) {
    return std::tie(name.engine, name.model, name.trace, name.gpu, name.tp, name.pp);
  };
  return identity(p) == identity(*m.told);
}

bool same_case(const CaseName& predicted, const MeasuredCase& measured) {
  if (measured.engine == "vllm") return same_vllm_case(predicted, measured);
  if (measured.engine == "sglang") return same_sglang_case(predicted, measured);
  return same_csv_case(predicted, measured);
}

std::string describe(const MeasuredCase& measured) {
  return measured.file.filename().string() + ": " + measured.run_name;
}

MetricComparison compare_metric(const PredictedCase& predicted, const MeasuredCase& measured,
                                const TimesMs& chosen, RunRule rule, Metric metric) {
  MetricComparison result;
  result.covered = measured.covers[metric];
  result.rule = rule_label(rule, measured.runs, metric);
  result.predicted_ms = predicted.ms[metric];
  result.measured_ms = chosen[metric];
  result.band = predicted.bands[metric];
  for (const MeasuredRun& run : measured.runs) {
    if (const auto ms = run.ms[metric]) {
      result.min_ms = std::min(*ms, result.min_ms.value_or(*ms));
      result.max_ms = std::max(*ms, result.max_ms.value_or(*ms));
      ++result.runs;
    }
  }
  return result;
}

ComparisonRow compare_case(const std::string& method, const PredictedCase& predicted,
                           const MeasuredCase& measured, RunRule rule) {
  ComparisonRow row;
  row.method = method;
  row.name = predicted.name;
  if (!measured.engine.empty()) {
    row.name.engine = measured.engine;
  } else if (!row.name.told()) {
    row.name.engine = "csv";
  }
  row.gpu_seen = predicted.gpu_seen;
  row.runs = measured.runs.size();
  row.rule = rule_label(rule, row.runs);
  row.operators = predicted.operators;
  const TimesMs chosen = measured_times(predicted.ms, measured.runs, rule);
  for (const Metric metric : kMetrics) {
    row.metrics[metric] = compare_metric(predicted, measured, chosen, rule, metric);
  }
  return row;
}

std::string reason_of(const MetricComparison& m, std::size_t runs) {
  const std::string not_measured = m.runs == 0 ? "no usable value in " + std::to_string(runs) +
                                                     " measured run" + (runs == 1 ? "" : "s")
                                               : "no measured value under the rule for runs";
  if (m.predicted_ms) return not_measured;
  return m.measured_ms ? "no usable prediction" : "no usable prediction, " + not_measured;
}

// Seconds in place of milliseconds or the reverse make a factor of 1000.
bool looks_like_other_unit(const MetricComparison& m) {
  constexpr double kLow = 300, kHigh = 3000;
  const double ratio = *m.predicted_ms / *m.measured_ms;
  const double factor = std::max(ratio, 1 / ratio);
  return factor > kLow && factor < kHigh;
}

void list_values_to_check(const ComparisonRow& row, Comparison& comparison) {
  const std::string who = row.method + ": " + describe(row.name) + ": ";
  for (const Metric metric : kMetrics) {
    const MetricComparison& m = row.metrics[metric];
    if (!m.covered) continue;
    const std::string what = who + std::string(to_string(metric)) + ": ";
    if (!m.signed_error()) {
      comparison.excluded.push_back(what + reason_of(m, row.runs));
    } else if (looks_like_other_unit(m)) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "predicted %.6g ms, measured %.6g ms: check the units, benchmarks write "
                    "seconds and predictions are milliseconds",
                    *m.predicted_ms, *m.measured_ms);
      comparison.notes.push_back(what + text);
    }
  }
}

void finish(Comparison& comparison) {
  const auto order = [&](const ComparisonRow& row) {
    const auto method = std::find(comparison.methods.begin(), comparison.methods.end(), row.method);
    return std::make_tuple(method - comparison.methods.begin(), row.name.engine, row.name.gpu,
                           row.name.model, row.name.trace);
  };
  std::stable_sort(comparison.rows.begin(), comparison.rows.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const ComparisonRow& row : comparison.rows) {
    list_values_to_check(row, comparison);
  }
}

// Which measurements fit each prediction of a method, and the reverse.
struct Fits {
  std::vector<std::vector<std::size_t>> measured_of;
  std::vector<std::vector<std::size_t>> predicted_of;
};

Fits find_fits(const Method& method, const std::vector<MeasuredCase>& measured) {
  Fits fits{std::vector<std::vector<std::size_t>>(method.cases.size()),
            std::vector<std::vector<std::size_t>>(measured.size())};
  for (std::size_t p = 0; p < method.cases.size(); ++p) {
    for (std::size_t m = 0; m < measured.size(); ++m) {
      if (same_case(method.cases[p].name, measured[m])) {
        fits.measured_of[p].push_back(m);
        fits.predicted_of[m].push_back(p);
      }
    }
  }
  return fits;
}

void compare_method(const Method& method, const std::vector<MeasuredCase>& measured,
                    const Fits& fits, Comparison& comparison) {
  for (std::size_t p = 0; p < method.cases.size(); ++p) {
    const PredictedCase& predicted = method.cases[p];
    const std::string who = method.name + ": " + describe(predicted.name) + " (" +
                            predicted.file.filename().string() + ")";
    const auto& partners = fits.measured_of[p];
    if (partners.empty()) {
      comparison.unmatched.push_back(who + ": no measurement");
    } else if (partners.size() > 1) {
      std::vector<std::string> names;
      for (const std::size_t m : partners) names.push_back(describe(measured[m]));
      comparison.unmatched.push_back(who + ": ambiguous, fits " + comma_list(names));
    } else if (const auto& rivals = fits.predicted_of[partners.front()]; rivals.size() > 1) {
      std::vector<std::string> names;
      for (const std::size_t r : rivals) names.push_back(method.cases[r].name.label);
      comparison.unmatched.push_back(who + ": ambiguous, " + describe(measured[partners.front()]) +
                                     " fits " + comma_list(names));
    } else {
      comparison.rows.push_back(
          compare_case(method.name, predicted, measured[partners.front()], comparison.rule));
    }
  }
}

// A mean over fewer cases than the other methods' is not comparable with theirs: says which cases,
// that at least one method has, a method lacks. `found[method][measured]`.
void list_lacking(const std::vector<Method>& methods, const std::vector<MeasuredCase>& measured,
                  const std::vector<std::vector<bool>>& found, Comparison& comparison) {
  constexpr std::size_t kMostNamed = 5;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    std::vector<std::string> lacking;
    for (std::size_t m = 0; m < measured.size(); ++m) {
      const bool elsewhere = std::any_of(found.begin(), found.end(),
                                         [m](const std::vector<bool>& each) { return each[m]; });
      if (elsewhere && !found[i][m]) lacking.push_back(describe(measured[m]));
    }
    const std::string who = methods[i].name + ": no prediction of ";
    if (lacking.size() > kMostNamed) {
      comparison.unmatched.push_back(
          who + std::to_string(lacking.size()) +
          " cases that another method has, the first: " + lacking.front());
      continue;
    }
    for (const std::string& each : lacking) comparison.unmatched.push_back(who + each);
  }
}

// The rows of a CSV have names of their own, so that only equal names make a pair.
bool is_csv(const fs::path& path) { return path.extension() == ".csv"; }

// Whether a pair, in which GPU and sizes do not count, is of two cases by its names. A prediction
// or a vLLM file that tells no case has no name that could differ.
bool names_differ(const CaseName& predicted, const MeasuredCase& measured) {
  if (!predicted.told() || run_name_of(predicted) == measured.run_name) return false;
  if (measured.engine == "vllm") {
    MeasuredCase anywhere = measured;
    anywhere.gpu.clear();
    return !measured.trace.empty() && !same_vllm_case(predicted, anywhere);
  }
  if (!measured.told) return predicted.label != measured.run_name;
  return run_name_of(predicted) != run_name_of(*measured.told);
}

const MeasuredCase& partner_in_pair(const PredictedCase& predicted,
                                    const std::vector<MeasuredCase>& measured,
                                    const std::optional<std::string>& run_name) {
  const std::string wanted = run_name                ? *run_name
                             : predicted.name.told() ? run_name_of(predicted.name)
                                                     : predicted.name.label;
  std::vector<std::string> names;
  for (const MeasuredCase& each : measured) {
    const bool own = !run_name && each.engine.empty() && same_csv_case(predicted.name, each);
    if (each.run_name == wanted || own) return each;
    names.push_back(each.run_name);
  }
  const bool tables = is_csv(predicted.file) && is_csv(measured.front().file);
  if (measured.size() == 1 && !tables && !run_name) return measured.front();
  throw DataError(measured.front().file.string() + " has no runs called '" + wanted + "', it has " +
                  comma_list(names) + "; choose one with --run NAME");
}

}  // namespace

std::optional<double> MetricComparison::signed_error() const {
  if (!predicted_ms || !measured_ms) return std::nullopt;
  return signed_error_percent(*predicted_ms, *measured_ms);
}

std::optional<bool> MetricComparison::within_band() const {
  if (!band || !measured_ms) return std::nullopt;
  return *measured_ms >= band->p10 && *measured_ms <= band->p90;
}

std::optional<double> ComparisonRow::mean_absolute_error() const {
  double sum = 0;
  std::size_t n = 0;
  for (const MetricComparison& m : metrics.values) {
    if (const auto error = m.signed_error()) {
      sum += std::fabs(*error);
      ++n;
    }
  }
  if (n == 0) return std::nullopt;
  return sum / static_cast<double>(n);
}

Comparison compare(const std::vector<Method>& methods, const std::vector<MeasuredCase>& measured,
                   RunRule rule) {
  Comparison comparison;
  comparison.rule = rule;
  std::vector<bool> used(measured.size(), false);
  std::vector<std::vector<bool>> found;  // by method and measured case
  for (const Method& method : methods) {
    comparison.methods.push_back(method.name);
    const Fits fits = find_fits(method, measured);
    compare_method(method, measured, fits, comparison);
    found.emplace_back(measured.size(), false);
    for (std::size_t m = 0; m < measured.size(); ++m) {
      found.back()[m] = !fits.predicted_of[m].empty();
      used[m] = used[m] || found.back()[m];
    }
  }
  list_lacking(methods, measured, found, comparison);
  for (std::size_t m = 0; m < measured.size(); ++m) {
    if (!used[m]) comparison.unmatched.push_back(describe(measured[m]) + ": no prediction");
  }
  finish(comparison);
  return comparison;
}

Comparison compare_pair(const std::vector<Method>& methods,
                        const std::vector<MeasuredCase>& measured,
                        const std::optional<std::string>& run_name, RunRule rule) {
  const bool several = std::any_of(methods.begin(), methods.end(),
                                   [](const Method& method) { return method.cases.size() != 1; });
  const bool tables = !run_name && is_csv(measured.front().file) &&
                      std::all_of(methods.begin(), methods.end(), [](const Method& method) {
                        return is_csv(method.cases.front().file);
                      });
  if (several || tables) {
    if (run_name) {
      throw DataError("--run " + *run_name +
                      " picks the runs of one prediction, expected a file with one case");
    }
    std::vector<MeasuredCase> anywhere = measured;
    for (MeasuredCase& each : anywhere) {
      each.gpu.clear();
      each.tp.reset();
      each.pp.reset();
    }
    return compare(methods, anywhere, rule);
  }
  Comparison comparison;
  comparison.rule = rule;
  for (const Method& method : methods) {
    comparison.methods.push_back(method.name);
    const PredictedCase& predicted = method.cases.front();
    const MeasuredCase& partner = partner_in_pair(predicted, measured, run_name);
    comparison.rows.push_back(compare_case(method.name, predicted, partner, rule));
    if (!run_name && names_differ(predicted.name, partner)) {
      comparison.notes.push_back(method.name + ": " + describe(predicted.name) +
                                 " is compared with the runs of " + describe(partner) +
                                 ", the only ones: the names differ");
    }
  }
  finish(comparison);
  return comparison;
}

}  // namespace pw
