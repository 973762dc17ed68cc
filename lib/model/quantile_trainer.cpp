#include "pw/quantile_trainer.h"

#include <algorithm>
#include <numeric>

#include <torch/torch.h>

#include "io/files.h"
#include "io/json_file.h"
#include "metrics.h"
#include "model/cross_validation.h"
#include "model/quantile_coverage.h"
#include "model/quantile_net.h"
#include "model/ratio_training.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "model/training_record.h"

namespace pw {
namespace {

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

std::string number_list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : ", ") + python_repr(value);
  }
  return text;
}

// Fits calibrated quantiles to parts of one data set.
class QuantileFit {
 public:
  QuantileFit(const Dataset& data, const RatioOptions& options, const QuantileOptions& quantiles,
              const ProgressCallback& progress)
      : data_(data),
        options_(options),
        quantiles_(sorted_quantiles(quantiles)),
        progress_(progress) {
    outputs_.main = std::find(quantiles_.begin(), quantiles_.end(), quantiles.quantiles.front()) -
                    quantiles_.begin();
  }

  torch::jit::Module fit(const std::vector<std::int64_t>& training,
                         const std::vector<std::int64_t>& calibration) {
    const RatioPart part = make_ratio_part(data_, training);
    const RatioScaling scaling = scaling_of(part, kClipShare);
    std::vector<double> levels;  // of the duration
    for (const double quantile : quantiles_) {
      levels.push_back(1 - quantile);
    }
    const std::vector<RatioNet> members =
        fit_ensemble(part, scaling, options_, progress_, levels);
    const RatioPart held_back = make_ratio_part(data_, calibration);
    const torch::NoGradGuard no_grad;
    const torch::Tensor predicted = ensemble_script(members, scaling)
                                        .get_method("ensemble_mean")({held_back.features})
                                        .toTensor();
    outputs_.shifts = conformal_shifts(predicted, held_back.targets, quantiles_);
    return quantile_script(members, scaling, outputs_);
  }

  const std::vector<double>& quantiles() const { return quantiles_; }
  double output_quantile() const { return quantiles_[static_cast<std::size_t>(outputs_.main)]; }
  const std::vector<double>& shifts() const { return outputs_.shifts; }  // of the latest fit

 private:
  const Dataset& data_;
  const RatioOptions& options_;
  std::vector<double> quantiles_;
  QuantileOutputs outputs_;
  const ProgressCallback& progress_;
};

// Coverage on groups that the fit has not seen, each group in one of the folds.
LabelledCoverage coverage_of_unseen_groups(const Dataset& data, const ModelRecord& record,
                                           const RatioOptions& options,
                                           const QuantileOptions& quantiles, QuantileFit& fit) {
  std::string label = "unseen";
  for (const std::string& column : data.options.hold_out_by) {
    label += (label == "unseen" ? " " : ",") + column;
  }
  std::vector<LabelledCoverage> parts;
  for (const Fold& fold : group_folds(data.hold_out_group, quantiles.hold_out_folds, options.seed)) {
    const Split split =
        split_problems(data, fold.training, quantiles.calibration_fraction, options.seed);
    const ScriptModel model(fit.fit(split.training, split.validation), record, "fold");
    parts.push_back(coverage_of_rows(model, data, fold.unseen, label));
  }
  return pooled(parts);
}

}  // namespace

ModelRecord train_log_ratio_quantiles(const Dataset& train, const RatioOptions& options,
                                      const QuantileOptions& quantiles,
                                      const std::filesystem::path& output,
                                      const ProgressCallback& progress) {
  check_options(options);
  check_between("calibration_fraction", quantiles.calibration_fraction, 0.001, 0.9);
  check_at_least("hold_out_folds", quantiles.hold_out_folds, 2);
  set_torch_threads(options.threads);
  const Split split =
      split_dataset(train, options.validation_fraction, options.seed, /*published_split=*/false);
  const Split fitted =
      split_problems(train, split.training, quantiles.calibration_fraction, options.seed);
  QuantileFit fit(train, options, quantiles, progress);
  ModelRecord record = record_of(train, nullptr, options_of(options), split);
  record.quantiles = fit.quantiles();
  record.output_quantile = fit.output_quantile();

  torch::jit::Module script = fit.fit(fitted.training, fitted.validation);
  const ScriptModel without_validation(script, record, output.string());
  record.metrics = evaluate_rows(without_validation, train, split.validation, "validation");
  record.coverage = coverage_of_rows(without_validation, train, split.validation, "validation");
  if (!train.hold_out_group.empty()) {
    const LabelledCoverage unseen =
        coverage_of_unseen_groups(train, record, options, quantiles, fit);
    record.coverage.insert(record.coverage.end(), unseen.begin(), unseen.end());
  }
  if (options.refit) {
    std::vector<std::int64_t> rows = fitted.training;
    rows.insert(rows.end(), split.validation.begin(), split.validation.end());
    std::sort(rows.begin(), rows.end());
    script = fit.fit(rows, fitted.validation);
  }
  record.training.emplace_back("rows_calibration", std::to_string(fitted.validation.size()));
  record.training.emplace_back("calibration_fraction", python_repr(quantiles.calibration_fraction));
  record.training.emplace_back("conformal_shifts", number_list(fit.shifts()));
  const ScriptModel checked(script, record, output.string());
  write_file_atomic(output, checkpoint_bytes(script, record));
  return record;
}

}  // namespace pw
