#include "metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pw/trainer.h"

namespace pw {
namespace {

constexpr float kSmallestPrediction = 1e-9f;
constexpr float kTargetOffset = 1e-8f;  // keeps a relative error finite

double percentage_below(const std::vector<float>& sorted, float limit) {
  const auto below = std::lower_bound(sorted.begin(), sorted.end(), limit) - sorted.begin();
  return 100.0 * static_cast<double>(below) / static_cast<double>(sorted.size());
}

double mean_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void set_relative_errors(std::vector<float> errors, Metrics& metrics) {
  std::sort(errors.begin(), errors.end());
  metrics.mean_relative_error = mean_of(errors);
  metrics.median_relative_error = quantile_of_sorted(errors, 0.5);
  metrics.percentile_95_relative_error = quantile_of_sorted(errors, 0.95);
  metrics.max_relative_error = errors.back();
  metrics.accuracy_10_percent = percentage_below(errors, 0.1f);
  metrics.accuracy_20_percent = percentage_below(errors, 0.2f);
  metrics.accuracy_50_percent = percentage_below(errors, 0.5f);
}

// (predicted - measured) / measured duration: durations are to each other as overall_perf inverted.
float signed_duration_error(float predicted, float measured) {
  return measured / std::max(predicted, kSmallestPrediction) - 1;
}

void set_duration_errors(std::vector<float> errors, Metrics& metrics) {
  metrics.duration_bias = mean_of(errors);
  for (float& error : errors) {
    error = std::abs(error);
  }
  std::sort(errors.begin(), errors.end());
  metrics.duration_mean_relative_error = mean_of(errors);
  metrics.duration_accuracy_10_percent = percentage_below(errors, 0.1f);
  metrics.duration_median_relative_error = quantile_of_sorted(errors, 0.5);
  metrics.duration_percentile_95_relative_error = quantile_of_sorted(errors, 0.95);
}

// Where the features of a model stand in a data set's rows.
std::vector<std::size_t> model_columns(const ModelRecord& record, const Dataset& data) {
  if (record.operator_name != data.family->name || record.kind != data.options.kind) {
    throw DataError("a model of " + record.operator_name + " (" +
                    std::string(to_string(record.kind)) + ") cannot be evaluated on rows of " +
                    std::string(data.family->name) + " read for " +
                    std::string(to_string(data.options.kind)) + " models");
  }
  std::vector<std::size_t> columns;
  for (const std::string& name : record.features) {
    const auto found = std::find(data.feature_names.begin(), data.feature_names.end(), name);
    if (found == data.feature_names.end()) {
      throw DataError("the model uses the feature '" + name +
                      "', which the rows were read without: read them with all features");
    }
    columns.push_back(static_cast<std::size_t>(found - data.feature_names.begin()));
  }
  return columns;
}

// overall_perf that an output stands for.
float efficiency_of_output(const Dataset& data, std::size_t row, double output) {
  if (data.options.kind == ModelKind::efficiency) {
    return static_cast<float>(output);
  }
  const double duration_us = duration_us_of(data.options.kind, output, data.reference_us[row]);
  return static_cast<float>(data.efficiency[row] * data.duration_us[row] / duration_us);
}

}  // namespace

double quantile_of_sorted(const std::vector<float>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = place - static_cast<double>(below);
  return sorted[below] + weight * (static_cast<double>(sorted[above]) - sorted[below]);
}

float relative_error(float predicted, float measured) {
  return std::abs(std::max(predicted, kSmallestPrediction) - measured) / (measured + kTargetOffset);
}

Metrics compute_metrics(const std::vector<float>& predicted, const std::vector<float>& measured) {
  const auto rows = static_cast<double>(measured.size());
  const double mean = std::accumulate(measured.begin(), measured.end(), 0.0) / rows;
  double absolute = 0, squared = 0, spread = 0;
  std::vector<float> errors(measured.size()), duration_errors(measured.size());
  for (std::size_t row = 0; row < measured.size(); ++row) {
    const float difference = std::max(predicted[row], kSmallestPrediction) - measured[row];
    absolute += std::abs(difference);
    squared += static_cast<double>(difference) * difference;
    spread += (measured[row] - mean) * (measured[row] - mean);
    errors[row] = relative_error(predicted[row], measured[row]);
    duration_errors[row] = signed_duration_error(predicted[row], measured[row]);
  }
  Metrics metrics;
  metrics.rows = static_cast<std::int64_t>(measured.size());
  metrics.mae = absolute / rows;
  metrics.rmse = std::sqrt(squared / rows);
  if (spread > 0) {
    metrics.r2 = 1 - squared / spread;
  }
  set_relative_errors(std::move(errors), metrics);
  set_duration_errors(std::move(duration_errors), metrics);
  return metrics;
}

LabelledMetrics metrics_by_hardware(const std::vector<float>& predicted,
                                    const std::vector<float>& measured,
                                    const std::vector<std::uint32_t>& hardware,
                                    const std::vector<std::string>& names,
                                    const std::string& label) {
  struct Part {
    std::vector<float> predicted, measured;
  };
  std::vector<Part> parts(names.size());
  std::vector<std::uint32_t> order;
  for (std::size_t row = 0; row < measured.size(); ++row) {
    Part& part = parts[hardware[row]];
    if (part.measured.empty()) {
      order.push_back(hardware[row]);
    }
    part.predicted.push_back(predicted[row]);
    part.measured.push_back(measured[row]);
  }
  LabelledMetrics table{{label, compute_metrics(predicted, measured)}};
  for (const std::uint32_t gpu : order) {
    table.emplace_back(label + ": " + names[gpu],
                       compute_metrics(parts[gpu].predicted, parts[gpu].measured));
  }
  return table;
}

std::vector<float> model_inputs(const ModelRecord& record, const Dataset& data,
                                const std::vector<std::int64_t>& rows) {
  const std::vector<std::size_t> columns = model_columns(record, data);
  std::vector<float> inputs;
  inputs.reserve(rows.size() * columns.size());
  for (const std::int64_t row : rows) {
    const double* features = data.features.data() + static_cast<std::size_t>(row) * data.width();
    for (const std::size_t column : columns) {
      inputs.push_back(static_cast<float>(features[column]));
    }
  }
  return inputs;
}

std::vector<float> predicted_efficiency(const OperatorModel& model, const Dataset& data,
                                        const std::vector<std::int64_t>& rows) {
  std::vector<float> predicted = model.evaluate(model_inputs(model.record(), data, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    predicted[i] = efficiency_of_output(data, static_cast<std::size_t>(rows[i]), predicted[i]);
  }
  return predicted;
}

LabelledMetrics metrics_of_rows(const Dataset& data, const std::vector<std::int64_t>& rows,
                                const std::vector<float>& predicted, const std::string& label) {
  std::vector<float> measured;
  std::vector<std::uint32_t> hardware;
  for (const std::int64_t number : rows) {
    const auto row = static_cast<std::size_t>(number);
    measured.push_back(static_cast<float>(data.efficiency[row]));
    hardware.push_back(data.hardware[row]);
  }
  return metrics_by_hardware(predicted, measured, hardware, data.hardware_names, label);
}

LabelledMetrics evaluate_rows(const OperatorModel& model, const Dataset& data,
                              const std::vector<std::int64_t>& rows, const std::string& label) {
  return metrics_of_rows(data, rows, predicted_efficiency(model, data, rows), label);
}

LabelledMetrics evaluate_model(const OperatorModel& model, const Dataset& data,
                               const std::string& label) {
  std::vector<std::int64_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0);
  return evaluate_rows(model, data, rows, label);
}

}  // namespace pw
