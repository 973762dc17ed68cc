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

torch::Tensor gpus_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> gpus;
  for (const std::int64_t row : rows) {
    gpus.push_back(data.hardware[static_cast<std::size_t>(row)]);
  }
  return torch::tensor(gpus, torch::kInt64);
}

// An ensemble that was fitted, before its calibration.
struct FittedEnsemble {
  std::vector<RatioNet> members;
  RatioScaling scaling;
};

// Fits quantiles to parts of one data set.
class QuantileFit {
 public:
  QuantileFit(const Dataset& data, const RatioOptions& options, const QuantileOptions& quantiles,
              const ProgressCallback& progress)
      : data_(data),
        options_(options),
        quantiles_(sorted_quantiles(quantiles)),
        progress_(progress) {
    main_ = std::find(quantiles_.begin(), quantiles_.end(), quantiles.quantiles.front()) -
            quantiles_.begin();
  }

  FittedEnsemble fit(const std::vector<std::int64_t>& rows) const {
    const RatioPart part = make_ratio_part(data_, rows);
    const RatioScaling scaling = scaling_of(part, kClipShare);
    std::vector<double> levels;  // of the duration
    for (const double quantile : quantiles_) {
      levels.push_back(1 - quantile);
    }
    return {fit_ensemble(part, scaling, options_, progress_, levels), scaling};
  }

  // The outputs before calibration, [rows, quantiles].
  torch::Tensor predict(const FittedEnsemble& ensemble,
                        const std::vector<std::int64_t>& rows) const {
    const torch::NoGradGuard no_grad;
    return ensemble_script(ensemble.members, ensemble.scaling)
        .get_method("ensemble_mean")({make_ratio_part(data_, rows).features})
        .toTensor();
  }

  // The ensemble with calibrated outputs. `predicted`: for these rows, by ensembles that had not
  // seen them.
  torch::jit::Module calibrated(const FittedEnsemble& ensemble, const torch::Tensor& predicted,
                                const std::vector<std::int64_t>& rows) const {
    const RatioPart part = make_ratio_part(data_, rows);
    return quantile_script(
        ensemble.members, ensemble.scaling,
        calibrate(part.features, predicted, part.targets, gpus_of(data_, rows), quantiles_), main_);
  }

  const std::vector<double>& quantiles() const { return quantiles_; }
  double output_quantile() const { return quantiles_[static_cast<std::size_t>(main_)]; }

 private:
  const Dataset& data_;
  const RatioOptions& options_;
  std::vector<double> quantiles_;
  std::int64_t main_ = 0;
  const ProgressCallback& progress_;
};

// Cross-conformal calibration: each row is predicted by an ensemble that has not seen its problem,
// and the shifts of the final ensemble come from these predictions of all rows.
struct CrossPrediction {
  std::vector<Fold> folds;
  std::vector<FittedEnsemble> ensembles;  // of the folds
  torch::Tensor predicted;                // [rows, quantiles]
};

CrossPrediction cross_predict(const Dataset& data, const QuantileFit& fit, std::int64_t folds,
                              std::int64_t seed) {
  CrossPrediction cross{group_folds(data.problem, folds, seed), {}, {}};
  cross.predicted = torch::empty({static_cast<std::int64_t>(data.rows()),
                                  static_cast<std::int64_t>(fit.quantiles().size())});
  for (const Fold& fold : cross.folds) {
    cross.ensembles.push_back(fit.fit(fold.training));
    cross.predicted.index_put_({torch::tensor(fold.unseen)},
                               fit.predict(cross.ensembles.back(), fold.unseen));
  }
  return cross;
}

// How the model does on rows that neither the fit nor the calibration has seen: each fold's
// ensemble, calibrated on the other folds.
void evaluate_folds(const Dataset& data, const QuantileFit& fit, const CrossPrediction& cross,
                    ModelRecord& record) {
  std::vector<LabelledCoverage> coverage;
  std::vector<std::int64_t> rows;
  std::vector<float> predicted;
  for (std::size_t i = 0; i < cross.folds.size(); ++i) {
    const Fold& fold = cross.folds[i];
    const torch::Tensor others =
        cross.predicted.index_select(0, torch::tensor(fold.training, torch::kInt64));
    const ScriptModel model(fit.calibrated(cross.ensembles[i], others, fold.training), record,
                            "fold");
    coverage.push_back(coverage_of_rows(model, data, fold.unseen, "held out"));
    const std::vector<float> part = predicted_efficiency(model, data, fold.unseen);
    rows.insert(rows.end(), fold.unseen.begin(), fold.unseen.end());
    predicted.insert(predicted.end(), part.begin(), part.end());
  }
  record.coverage = pooled(coverage);
  record.metrics = metrics_of_rows(data, rows, predicted, "held out");
}

// Coverage on groups that neither has seen, each group in one of the folds.
LabelledCoverage coverage_of_unseen_groups(const Dataset& data, const QuantileFit& fit,
                                           const QuantileOptions& options, std::int64_t seed,
                                           const ModelRecord& record) {
  std::string label = "unseen";
  for (const std::string& column : data.options.hold_out_by) {
    label += (label == "unseen" ? " " : ",") + column;
  }
  std::vector<LabelledCoverage> parts;
  for (const Fold& fold : group_folds(data.hold_out_group, options.hold_out_folds, seed)) {
    const Split split = split_problems(
        data, fold.training, 1 / static_cast<double>(options.calibration_folds), seed);
    const FittedEnsemble ensemble = fit.fit(split.training);
    const ScriptModel model(
        fit.calibrated(ensemble, fit.predict(ensemble, split.validation), split.validation), record,
        "fold");
    parts.push_back(coverage_of_rows(model, data, fold.unseen, label));
  }
  return pooled(parts);
}

std::vector<std::int64_t> all_rows(const Dataset& data) {
  std::vector<std::int64_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

ModelRecord train_log_ratio_quantiles(const Dataset& train, const RatioOptions& options,
                                      const QuantileOptions& quantiles,
                                      const std::filesystem::path& output,
                                      const ProgressCallback& progress) {
  check_options(options);
  check_at_least("calibration_folds", quantiles.calibration_folds, 2);
  check_at_least("hold_out_folds", quantiles.hold_out_folds, 2);
  set_torch_threads(options.threads);
  const QuantileFit fit(train, options, quantiles, progress);
  ModelRecord record = record_of(train, nullptr, options_of(options), {all_rows(train), {}});
  record.quantiles = fit.quantiles();
  record.output_quantile = fit.output_quantile();
  record.training.emplace_back("calibration_folds", std::to_string(quantiles.calibration_folds));

  const CrossPrediction cross =
      cross_predict(train, fit, quantiles.calibration_folds, options.seed);
  evaluate_folds(train, fit, cross, record);
  if (!train.hold_out_group.empty()) {
    const LabelledCoverage unseen =
        coverage_of_unseen_groups(train, fit, quantiles, options.seed, record);
    record.coverage.insert(record.coverage.end(), unseen.begin(), unseen.end());
    record.training.emplace_back("hold_out_folds", std::to_string(quantiles.hold_out_folds));
  }
  const std::vector<std::int64_t> rows = all_rows(train);
  const torch::jit::Module script = fit.calibrated(fit.fit(rows), cross.predicted, rows);
  const ScriptModel checked(script, record, output.string());
  write_file_atomic(output, checkpoint_bytes(script, record));
  return record;
}

}  // namespace pw
