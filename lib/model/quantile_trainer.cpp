#include "pw/quantile_trainer.h"

#include <algorithm>
#include <optional>

#include <torch/torch.h>

#include "comma_list.h"
#include "io/files.h"
#include "io/json_file.h"
#include "metrics.h"
#include "model/quantile_coverage.h"
#include "model/quantile_net.h"
#include "model/ratio_training.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "model/training.h"
#include "model/training_record.h"
#include "pw/cross_validation.h"

namespace pw {
namespace {

constexpr char kHeldOut[] = "held out";
constexpr std::int64_t kCalibrationFolds = 5;

void check_quantile(double quantile) { check_between("quantile", quantile, 0.001, 0.999); }

// Of performance, rising, each once: then the durations that they stand for fall.
std::vector<double> sorted_quantiles(const QuantileOptions& options) {
  std::vector<double> sorted = options.quantiles;
  std::for_each(sorted.begin(), sorted.end(), check_quantile);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw UsageError("training option quantile needs at least one value and each value once");
  }
  return sorted;
}

torch::Tensor gpus_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> gpus;
  for (const std::int64_t row : rows) {
    gpus.push_back(data.hardware[static_cast<std::size_t>(row)]);
  }
  return torch::tensor(gpus, torch::kInt64);
}

std::vector<double> levels_of(const std::vector<double>& quantiles) {
  std::vector<double> levels;  // of the duration
  for (const double quantile : quantiles) {
    levels.push_back(1 - quantile);
  }
  return levels;
}

std::string label_of_unseen(const Dataset& data) {
  std::string label = "unseen";
  for (const std::string& column : data.options.hold_out_by) {
    label += (label == "unseen" ? " " : ",") + column;
  }
  return label;
}

// Split conformal calibration: an ensemble is fitted to some of the rows, and its outputs are
// shifted by what it is off on the others.
class QuantileTraining {
 public:
  QuantileTraining(const Dataset& data, const RatioOptions& options,
                   const QuantileOptions& quantiles)
      : data_(data),
        options_(options),
        quantiles_(sorted_quantiles(quantiles)),
        main_(std::find(quantiles_.begin(), quantiles_.end(), quantiles.quantiles.front()) -
              quantiles_.begin()) {
    add_part(all_rows(data), quantiles.calibration_fraction);
    if (!data.hold_out_group.empty()) {
      hold_out_folds_ = group_folds(data.hold_out_group, quantiles.hold_out_folds, options.seed);
    }
    for (const Fold& fold : hold_out_folds_) {
      add_part(fold.training, quantiles.calibration_fraction);
    }
    std::vector<std::vector<std::int64_t>> rows_of_fits;
    for (const Split& part : parts_) {
      rows_of_fits.push_back(part.training);
    }
    check_calibration_rows();
    training_.emplace(data, rows_of_fits, options, levels_of(quantiles_));
  }

  EnsembleTraining& training() { return *training_; }
  const Split& part() const { return parts_[0]; }  // `validation` are the calibration rows
  const std::vector<double>& quantiles() const { return quantiles_; }
  double output_quantile() const { return quantiles_[static_cast<std::size_t>(main_)]; }

  // Of the complete training.
  torch::jit::Module script() const { return calibrated(0, parts_[0].validation); }
  void evaluate(ModelRecord& record) const {
    evaluate_calibration_rows(record);
    evaluate_unseen_groups(record);
  }

 private:
  void add_part(const std::vector<std::int64_t>& rows, double calibration_fraction) {
    parts_.push_back(split_groups_of(data_.problem, rows, calibration_fraction, options_.seed));
  }
  void check_calibration_rows() const;
  // Ensemble `fit`, calibrated on rows that it has not seen.
  torch::jit::Module calibrated(std::size_t fit, const std::vector<std::int64_t>& rows) const;
  void evaluate_calibration_rows(ModelRecord& record) const;
  void evaluate_unseen_groups(ModelRecord& record) const;

  const Dataset& data_;
  const RatioOptions& options_;
  std::vector<double> quantiles_;
  std::int64_t main_;  // which of the quantiles is the output
  std::vector<Fold> hold_out_folds_;
  std::vector<Split> parts_;  // of all rows, then of the training rows of each fold
  std::optional<EnsembleTraining> training_;
};

void QuantileTraining::check_calibration_rows() const {
  const std::int64_t needed = calibration_rows_needed(quantiles_);
  for (const Split& part : parts_) {
    const auto rows = static_cast<std::int64_t>(part.validation.size());
    if (rows * (kCalibrationFolds - 1) / kCalibrationFolds < needed) {
      throw DataError("the quantile " + python_repr(quantiles_.back()) +
                      " cannot be calibrated on " + std::to_string(rows) + " rows, expected " +
                      std::to_string(needed * kCalibrationFolds / (kCalibrationFolds - 1) + 1) +
                      ": give more rows, a larger calibration_fraction or a lower quantile");
    }
  }
}

torch::jit::Module QuantileTraining::calibrated(std::size_t fit,
                                                const std::vector<std::int64_t>& rows) const {
  const torch::NoGradGuard no_grad;
  const std::vector<RatioNet> members = training_->members(fit);
  const RatioScaling& scaling = training_->scaling(fit);
  const RatioPart part = make_ratio_part(data_, rows);
  const torch::Tensor predicted =
      ensemble_script(members, scaling).get_method("ensemble_mean")({part.features}).toTensor();
  return quantile_script(
      members, scaling,
      calibrate(part.features, predicted, part.targets, gpus_of(data_, rows), quantiles_), main_);
}

// How the model does on rows that neither the fit nor the calibration has seen: of the calibration
// rows one fold after the other is tested with the shifts of the other folds.
void QuantileTraining::evaluate_calibration_rows(ModelRecord& record) const {
  const std::vector<std::int64_t>& calibration = parts_[0].validation;
  std::vector<std::uint64_t> problems;
  for (const std::int64_t row : calibration) {
    problems.push_back(data_.problem[static_cast<std::size_t>(row)]);
  }
  const auto rows_at = [&](std::vector<std::int64_t> places) {
    for (std::int64_t& place : places) {
      place = calibration[static_cast<std::size_t>(place)];
    }
    return places;
  };
  std::vector<LabelledCoverage> coverage;
  std::vector<std::int64_t> rows;
  std::vector<float> predicted;
  for (const Fold& fold : group_folds(problems, kCalibrationFolds, options_.seed)) {
    const std::vector<std::int64_t> tested = rows_at(fold.unseen);
    const ScriptModel model(calibrated(0, rows_at(fold.training)), record, "fold");
    coverage.push_back(coverage_of_rows(model, data_, tested, kHeldOut));
    const std::vector<float> part = predicted_efficiency(model, data_, tested);
    rows.insert(rows.end(), tested.begin(), tested.end());
    predicted.insert(predicted.end(), part.begin(), part.end());
  }
  record.coverage = pooled(coverage);
  record.metrics = metrics_of_rows(data_, rows, predicted, kHeldOut);
}

// Groups that neither has seen, each group in one of the folds.
void QuantileTraining::evaluate_unseen_groups(ModelRecord& record) const {
  std::vector<LabelledCoverage> parts;
  for (std::size_t i = 0; i < hold_out_folds_.size(); ++i) {
    const ScriptModel model(calibrated(i + 1, parts_[i + 1].validation), record, "fold");
    parts.push_back(
        coverage_of_rows(model, data_, hold_out_folds_[i].unseen, label_of_unseen(data_)));
  }
  const LabelledCoverage unseen = pooled(parts);
  record.coverage.insert(record.coverage.end(), unseen.begin(), unseen.end());
}

// Options that the quantile models have no use for.
NamedValues without(const std::vector<std::string>& names, NamedValues values) {
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](const auto& value) {
                                return std::count(names.begin(), names.end(), value.first) > 0;
                              }),
               values.end());
  return values;
}

}  // namespace

TrainingRun run_mlp_quantile_training(const Dataset& train, const MlpOptions& options,
                                      const std::filesystem::path& output,
                                      const ProgressCallback& progress, const RunControl& control) {
  check_options(options);
  check_quantile(options.quantile.value());
  set_torch_threads(options.threads);
  torch::manual_seed(static_cast<std::uint64_t>(options.seed));
  const Split split{all_rows(train), {}};
  Training training(train, make_part(train, split.training), make_part(train, {}), options);
  TrainingRun run;
  run.record = record_of(train, nullptr,
                         without({"scheduler_factor", "scheduler_patience", "min_learning_rate",
                                  "early_stopping_patience", "validation_fraction", "split"},
                                 options_of(options)),
                         split);
  run.record.quantiles = {*options.quantile};
  run.record.output_quantile = options.quantile;
  run.curve = run_epochs(training, run.record, progress, control);
  run.stopped = !training.finished();
  append(training.result(), run.record.training);
  if (run.stopped) {
    run.record.training.emplace_back("stopped", "on request, before the end");
  }
  const MlpImpl& network = training.best_network();
  run.network = {network.hidden_widths(), 1, options.dropout, parameters_of(network)};
  const torch::jit::Module script = to_torch_script(network);
  const ScriptModel model(script, run.record, output.string());
  run.record.metrics = evaluate_model(model, train, "training");
  run.record.coverage = evaluate_coverage(model, train, "training");
  write_file_atomic(output, checkpoint_bytes(script, run.record));
  return run;
}

TrainingRun run_log_ratio_quantile_training(const Dataset& train, const RatioOptions& options,
                                            const QuantileOptions& quantiles,
                                            const std::filesystem::path& output,
                                            const ProgressCallback& progress,
                                            const RunControl& control) {
  check_options(options);
  check_between("calibration_fraction", quantiles.calibration_fraction, 0.001, 0.9);
  check_at_least("hold_out_folds", quantiles.hold_out_folds, 2);
  set_torch_threads(options.threads);
  QuantileTraining training(train, options, quantiles);
  TrainingRun run;
  run.record =
      record_of(train, nullptr, without({"validation_fraction", "refit"}, options_of(options)),
                {all_rows(train), {}});
  run.record.quantiles = training.quantiles();
  run.record.output_quantile = training.output_quantile();
  append({{"calibration_fraction", python_repr(quantiles.calibration_fraction)},
          {"rows_calibration", std::to_string(training.part().validation.size())}},
         run.record.training);
  if (!train.hold_out_group.empty()) {
    run.record.training.emplace_back("hold_out_by", comma_list(train.options.hold_out_by));
    run.record.training.emplace_back("hold_out_folds", std::to_string(quantiles.hold_out_folds));
  }
  run.network = {options.hidden_widths, options.members, 0, training.training().parameters()};
  run.curve = run_epochs(training.training(), run.record, progress, control);
  run.stopped = run.saved = false;
  if (!training.training().finished()) {
    run.stopped = true;
    return run;
  }
  training.evaluate(run.record);
  const torch::jit::Module script = training.script();
  const ScriptModel checked(script, run.record, output.string());
  write_file_atomic(output, checkpoint_bytes(script, run.record));
  run.saved = true;
  return run;
}

}  // namespace pw
