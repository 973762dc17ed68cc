#include "pw/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <torch/torch.h>

#include "io/files.h"
#include "io/json_file.h"
#include "metrics.h"
#include "model/script_model.h"
#include "model/split.h"
#include "model/threads.h"
#include "model/training.h"

namespace pw {
namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

void require(bool condition, const std::string& option, const std::string& found,
             const std::string& expected) {
  if (!condition) {
    throw DataError("training option " + option + " is " + found + ", expected " + expected);
  }
}

void check_options(const MlpOptions& o) {
  const auto count = [](const char* name, std::int64_t value, std::int64_t least) {
    require(value >= least, name, std::to_string(value), "at least " + std::to_string(least));
  };
  const auto between = [](const char* name, double value, double least, double most) {
    require(value >= least && value <= most, name,
            std::isfinite(value) ? python_repr(value) : std::to_string(value),
            "between " + python_repr(least) + " and " + python_repr(most));
  };
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kSmallest = std::numeric_limits<double>::min();
  count("epochs", o.epochs, 1);
  count("batch_size", o.batch_size, 2);
  count("scheduler_patience", o.scheduler_patience, 0);
  count("early_stopping_patience", o.early_stopping_patience, 1);
  count("threads", o.threads, 1);
  between("learning_rate", o.learning_rate, kSmallest, kMax);
  between("weight_decay", o.weight_decay, 0, kMax);
  between("clip_norm", o.clip_norm, kSmallest, kMax);
  between("dropout", o.dropout, 0, 0.99);
  between("scheduler_factor", o.scheduler_factor, kSmallest, 1);
  between("min_learning_rate", o.min_learning_rate, 0, kMax);
  between("validation_fraction", o.validation_fraction, kSmallest, 0.99);
  between("seed", static_cast<double>(o.seed), 0, std::numeric_limits<std::uint32_t>::max());
}

Split split_of(const Dataset& data, const MlpOptions& options) {
  const Split split = options.published_split
                          ? split_rows(static_cast<std::int64_t>(data.rows()),
                                       options.validation_fraction, options.seed)
                          : split_groups(data.problem, options.validation_fraction, options.seed);
  if (split.training.size() < 2 || split.validation.empty()) {
    throw DataError("the " + std::to_string(data.rows()) + " usable rows of " +
                    data.files.front().name + " split into " +
                    std::to_string(split.training.size()) + " for training and " +
                    std::to_string(split.validation.size()) +
                    " for validation, expected at least 2 and 1: give more different problems");
  }
  return split;
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

Named options_of(const MlpOptions& o) {
  return {{"epochs", std::to_string(o.epochs)},
          {"batch_size", std::to_string(o.batch_size)},
          {"learning_rate", python_repr(o.learning_rate)},
          {"weight_decay", python_repr(o.weight_decay)},
          {"clip_norm", python_repr(o.clip_norm)},
          {"dropout", python_repr(o.dropout)},
          {"scheduler_factor", python_repr(o.scheduler_factor)},
          {"scheduler_patience", std::to_string(o.scheduler_patience)},
          {"min_learning_rate", python_repr(o.min_learning_rate)},
          {"early_stopping_patience", std::to_string(o.early_stopping_patience)},
          {"validation_fraction", python_repr(o.validation_fraction)},
          {"split", o.published_split ? "published" : "groups"},
          {"seed", std::to_string(o.seed)},
          {"threads", std::to_string(o.threads)},
          {"libtorch", TORCH_VERSION}};
}

void append_data_notes(const Dataset& data, const std::string& prefix, Named& notes) {
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

ModelRecord record_of(const Dataset& train, const Dataset* test, const MlpOptions& options,
                      const Split& split) {
  ModelRecord record;
  record.operator_name = train.family->name;
  record.kind = train.options.kind;
  record.attention_layout = train.attention_layout;
  record.features = train.feature_names;
  record.analysis = train.options.analysis;
  record.feature_ranges = feature_ranges(train);
  record.hardware_rows = hardware_rows(train);
  record.data = train.files;
  record.training = options_of(options);
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

}  // namespace

ModelRecord train_mlp(const Dataset& train, const Dataset* test, const MlpOptions& options,
                      const std::filesystem::path& output, const ProgressCallback& progress) {
  check_options(options);
  set_torch_threads(options.threads);
  torch::manual_seed(static_cast<std::uint64_t>(options.seed));
  const Split split = split_of(train, options);
  Training training(train, make_part(train, split.training), make_part(train, split.validation),
                    options);
  ModelRecord record = record_of(train, test, options, split);
  const Named losses = training.run(progress);
  record.training.insert(record.training.end(), losses.begin(), losses.end());

  const torch::jit::Module script = to_torch_script(training.network());
  const ScriptModel model(script, record, output.string());
  record.metrics = evaluate_rows(model, train, split.validation, "validation");
  if (test) {
    const auto on_test = evaluate_model(model, *test, "test");
    record.metrics.insert(record.metrics.end(), on_test.begin(), on_test.end());
  }
  write_file_atomic(output, checkpoint_bytes(script, record));
  return record;
}

}  // namespace pw
