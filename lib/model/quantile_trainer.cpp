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

void check_quantile(double quantile) { check_between("quantile", quantile, 0.001, 0.999); }

// Of performance, rising, each once: then the durations that they stand for fall.
std::vector<double> sorted_quantiles(const QuantileOptions& options) {
  std::vector<double> sorted = options.quantiles;
  std::for_each(sorted.begin(), sorted.end(), check_quantile);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw DataError("training option quantile needs at least one value and each value once");
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
  return "unseen " + comma_list(data.options.hold_out_by);
}

// Cross-conformal calibration: each row is predicted by an ensemble that has not seen its problem,
// and the shifts of the final ensemble come from these predictions of all rows.
class QuantileTraining {
 public:
  QuantileTraining(const Dataset& data, const RatioOptions& options,
                   const QuantileOptions& quantiles)
      : data_(data),
        quantiles_(sorted_quantiles(quantiles)),
        main_(std::find(quantiles_.begin(), quantiles_.end(), quantiles.quantiles.front()) -
              quantiles_.begin()),
        folds_(group_folds(data.problem, quantiles.calibration_folds, options.seed)) {
    for (const Fold& fold : folds_) {
      rows_of_fits_.push_back(fold.training);
    }
    if (!data.hold_out_group.empty()) {
      hold_out_folds_ = group_folds(data.hold_out_group, quantiles.hold_out_folds, options.seed);
    }
    for (const Fold& fold : hold_out_folds_) {
      calibration_of_hold_out_.push_back(
          split_groups_of(data.problem, fold.training,
                          1 / static_cast<double>(quantiles.calibration_folds), options.seed));
      rows_of_fits_.push_back(calibration_of_hold_out_.back().training);
    }
    rows_of_fits_.push_back(all_rows(data));
    training_.emplace(data, rows_of_fits_, options, levels_of(quantiles_));
  }

  EnsembleTraining& training() { return *training_; }
  const std::vector<double>& quantiles() const { return quantiles_; }
  double output_quantile() const { return quantiles_[static_cast<std::size_t>(main_)]; }

  // Of the complete training.
  void evaluate(ModelRecord& record);
  torch::jit::Module final_script() const {
    return calibrated(rows_of_fits_.size() - 1, predicted_, rows_of_fits_.back());
  }

 private:
  torch::Tensor predict(std::size_t fit, const std::vector<std::int64_t>& rows) const;
  torch::jit::Module calibrated(std::size_t fit, const torch::Tensor& predicted,
                                const std::vector<std::int64_t>& rows) const;
  void evaluate_folds(ModelRecord& record) const;
  void evaluate_unseen_groups(ModelRecord& record) const;

  const Dataset& data_;
  std::vector<double> quantiles_;
  std::int64_t main_;  // which of the quantiles is the output
  std::vector<Fold> folds_, hold_out_folds_;
  std::vector<Split> calibration_of_hold_out_;
  std::vector<std::vector<std::int64_t>> rows_of_fits_;  // folds, folds of groups, all rows
  std::optional<EnsembleTraining> training_;
  torch::Tensor predicted_;  // [rows, quantiles], before calibration, by the fold without the row
};

torch::Tensor QuantileTraining::predict(std::size_t fit,
                                        const std::vector<std::int64_t>& rows) const {
  const torch::NoGradGuard no_grad;
  return ensemble_script(training_->members(fit), training_->scaling(fit))
      .get_method("ensemble_mean")({make_ratio_part(data_, rows).features})
      .toTensor();
}

// `predicted`: for these rows, by ensembles that have not seen them.
torch::jit::Module QuantileTraining::calibrated(std::size_t fit, const torch::Tensor& predicted,
                                                const std::vector<std::int64_t>& rows) const {
  const RatioPart part = make_ratio_part(data_, rows);
  return quantile_script(
      training_->members(fit), training_->scaling(fit),
      calibrate(part.features, predicted, part.targets, gpus_of(data_, rows), quantiles_), main_);
}

void QuantileTraining::evaluate(ModelRecord& record) {
  predicted_ = torch::empty(
      {static_cast<std::int64_t>(data_.rows()), static_cast<std::int64_t>(quantiles_.size())});
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    predicted_.index_put_({torch::tensor(folds_[i].unseen)}, predict(i, folds_[i].unseen));
  }
  evaluate_folds(record);
  evaluate_unseen_groups(record);
}

// Rows that neither fit nor calibration has seen: each fold's ensemble, calibrated on the others.
void QuantileTraining::evaluate_folds(ModelRecord& record) const {
  std::vector<LabelledCoverage> coverage;
  std::vector<std::int64_t> rows;
  std::vector<float> predicted;
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    const Fold& fold = folds_[i];
    const torch::Tensor others = predicted_.index_select(0, torch::tensor(fold.training));
    const ScriptModel model(calibrated(i, others, fold.training), record, "fold");
    coverage.push_back(coverage_of_rows(model, data_, fold.unseen, kHeldOut));
    const std::vector<float> part = predicted_efficiency(model, data_, fold.unseen);
    rows.insert(rows.end(), fold.unseen.begin(), fold.unseen.end());
    predicted.insert(predicted.end(), part.begin(), part.end());
  }
  record.coverage = pooled(coverage);
  record.metrics = metrics_of_rows(data_, rows, predicted, kHeldOut);
}

// Groups that neither has seen, each group in one of the folds.
void QuantileTraining::evaluate_unseen_groups(ModelRecord& record) const {
  std::vector<LabelledCoverage> parts;
  for (std::size_t i = 0; i < hold_out_folds_.size(); ++i) {
    const std::vector<std::int64_t>& rows = calibration_of_hold_out_[i].validation;
    const std::size_t fit = folds_.size() + i;
    const ScriptModel model(calibrated(fit, predict(fit, rows), rows), record, "fold");
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
  check_at_least("calibration_folds", quantiles.calibration_folds, 2);
  check_at_least("hold_out_folds", quantiles.hold_out_folds, 2);
  set_torch_threads(options.threads);
  QuantileTraining training(train, options, quantiles);
  TrainingRun run;
  run.record =
      record_of(train, nullptr, without({"validation_fraction", "refit"}, options_of(options)),
                {all_rows(train), {}});
  run.record.quantiles = training.quantiles();
  run.record.output_quantile = training.output_quantile();
  run.record.training.emplace_back("calibration_folds",
                                   std::to_string(quantiles.calibration_folds));
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
  const torch::jit::Module script = training.final_script();
  const ScriptModel checked(script, run.record, output.string());
  write_file_atomic(output, checkpoint_bytes(script, run.record));
  run.saved = true;
  return run;
}

}  // namespace pw
