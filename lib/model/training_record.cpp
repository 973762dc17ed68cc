#include "model/training_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "comma_list.h"
#include "error_bands.h"
#include "io/json_file.h"
#include "metrics.h"
#include "model/openblas_core.h"

namespace pw {
namespace {

void require(bool condition, const std::string& option, const std::string& found,
             const std::string& expected) {
  if (!condition) {
    throw UsageError("training option " + option + " is " + found + ", expected " + expected);
  }
}

std::vector<FeatureRange> feature_ranges(const Dataset& data) {
  const std::size_t width = data.width();
  const auto rows = static_cast<double>(data.rows());
  std::vector<FeatureRange> ranges;
  for (std::size_t feature = 0; feature < width; ++feature) {
    FeatureRange range;
    range.min = range.max = data.features[feature];
    double sum = 0;
    for (std::size_t i = feature; i < data.features.size(); i += width) {
      range.min = std::min(range.min, data.features[i]);
      range.max = std::max(range.max, data.features[i]);
      sum += data.features[i];
    }
    range.mean = sum / rows;
    double squares = 0;
    for (std::size_t i = feature; i < data.features.size(); i += width) {
      squares += (data.features[i] - range.mean) * (data.features[i] - range.mean);
    }
    range.stddev = std::sqrt(squares / rows);
    ranges.push_back(range);
  }
  return ranges;
}

// Rows per GPU, most rows first.
std::vector<std::pair<std::string, std::int64_t>> hardware_rows(const Dataset& data) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const std::string& name : data.hardware_names) {
    counts.emplace_back(name, 0);
  }
  for (const std::uint32_t gpu : data.hardware) {
    ++counts[gpu].second;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

void append_data_notes(const Dataset& data, const std::string& prefix, NamedValues& notes) {
  std::string filters;
  for (const RowFilter& filter : data.options.filters) {
    filters += (filters.empty() ? "" : ", ") + to_string(filter);
  }
  if (!filters.empty()) {
    notes.emplace_back(prefix + "row_filters", filters);
  }
  if (!data.dropped.empty()) {
    notes.emplace_back(prefix + "rows_dropped", summary(data.dropped));
  }
}

}  // namespace

void check_at_least(const std::string& option, std::int64_t value, std::int64_t least) {
  require(value >= least, option, std::to_string(value), "at least " + std::to_string(least));
}

void check_between(const std::string& option, double value, double least, double most) {
  require(value >= least && value <= most, option,
          std::isfinite(value) ? python_repr(value) : std::to_string(value),
          "between " + python_repr(least) + " and " + python_repr(most));
}

void check_seed(std::int64_t seed) {
  check_between("seed", static_cast<double>(seed), 0,
                static_cast<double>(std::numeric_limits<std::uint32_t>::max()));
}

Split split_dataset(const Dataset& data, double validation_fraction, std::int64_t seed,
                    bool published_split) {
  const Split split = published_split ? split_rows(static_cast<std::int64_t>(data.rows()),
                                                   validation_fraction, seed)
                                      : split_groups(data.problem, validation_fraction, seed);
  if (split.training.size() < 2 || split.validation.empty()) {
    throw DataError("the " + std::to_string(data.rows()) + " usable rows of " +
                    data.files.front().name + " split into " +
                    std::to_string(split.training.size()) + " for training and " +
                    std::to_string(split.validation.size()) +
                    " for validation, expected at least 2 and 1: give more different problems");
  }
  return split;
}

std::vector<std::int64_t> all_rows(const Dataset& data) {
  std::vector<std::int64_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

ModelRecord record_of(const Dataset& train, const Dataset* test, const NamedValues& options,
                      const Split& split) {
  ModelRecord record;
  record.operator_name = train.family->name;
  record.kind = train.options.kind;
  record.attention_layout = train.attention_layout;
  record.features = train.feature_names;
  record.analysis = train.options.analysis;
  record.feature_ranges = feature_ranges(train);
  if (record.kind == ModelKind::log_ratio) record.operand_copies = train.operand_copies;
  record.hardware_rows = hardware_rows(train);
  record.data = train.files;
  record.training = options;
  if (const std::string core = openblas_core(); !core.empty()) {
    record.training.emplace_back("openblas_core", core);  // its kernels round in their own way
  }
  if (!train.options.group_by.empty()) {
    record.training.emplace_back("group_by", comma_list(train.options.group_by));
  }
  if (!train.options.weight_column.empty()) {
    record.training.emplace_back("weight_column", train.options.weight_column);
  }
  if (!train.kernel_sources.empty()) {
    record.training.emplace_back("kernel_source", comma_list(train.kernel_sources));
  }
  append_data_notes(train, "", record.training);
  if (test) {
    for (const DataFile& file : test->files) {
      record.training.emplace_back("test_file " + file.name, "sha256 " + file.sha256);
    }
    append_data_notes(*test, "test_", record.training);
  }
  record.training.emplace_back("rows_training", std::to_string(split.training.size()));
  record.training.emplace_back("rows_validation", std::to_string(split.validation.size()));
  return record;
}

void append(const NamedValues& values, NamedValues& to) {
  to.insert(to.end(), values.begin(), values.end());
}

void predict_validation(const OperatorModel& model, const Dataset& train, std::int64_t seed,
                        TrainingRun& run) {
  run.validation_predictions = predicted_efficiency(model, train, run.validation_rows);
  const LabelledMetrics metrics =
      metrics_of_rows(train, run.validation_rows, run.validation_predictions, "validation");
  run.record.metrics.insert(run.record.metrics.end(), metrics.begin(), metrics.end());
  run.record.known_gpu_errors =
      known_gpu_errors(train, {fit_errors(train, run.validation_rows, run.validation_predictions)},
                       train.problem, seed, "validation rows");
}

void predict_test(const OperatorModel& model, const Dataset* test, TrainingRun& run) {
  if (test == nullptr) {
    return;
  }
  const std::vector<std::int64_t> rows = all_rows(*test);
  run.test_predictions = predicted_efficiency(model, *test, rows);
  const LabelledMetrics metrics = metrics_of_rows(*test, rows, run.test_predictions, "test");
  run.record.metrics.insert(run.record.metrics.end(), metrics.begin(), metrics.end());
}

}  // namespace pw
