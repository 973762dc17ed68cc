#include <map>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "error_bands.h"
#include "metrics.h"
#include "model/ratio_training.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "model/training.h"
#include "model/training_record.h"
#include "pw/cross_validation.h"

namespace pw {
namespace {

// Predictions of all folds for one of their parts, in the order of the rows.
class PartPredictions {
 public:
  FitErrors add(const OperatorModel& model, const Dataset& data,
                const std::vector<std::int64_t>& rows) {
    const std::vector<float> predicted = predicted_efficiency(model, data, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      efficiency_of_row_.emplace(rows[i], predicted[i]);
    }
    return fit_errors(data, rows, predicted);
  }
  LabelledMetrics metrics(const Dataset& data, const std::string& label) const {
    std::vector<std::int64_t> rows;
    std::vector<float> efficiency;
    for (const auto& [row, predicted] : efficiency_of_row_) {
      rows.push_back(row);
      efficiency.push_back(predicted);
    }
    return rows.empty() ? LabelledMetrics{} : metrics_of_rows(data, rows, efficiency, label);
  }

 private:
  std::multimap<std::int64_t, float> efficiency_of_row_;  // several folds may have seen a row
};

struct FoldPredictions {
  PartPredictions seen, unseen;
  std::vector<FitErrors> unseen_errors;

  void add(const OperatorModel& model, const Dataset& data, const Fold& fold) {
    seen.add(model, data, fold.seen);
    unseen_errors.push_back(unseen.add(model, data, fold.unseen));
  }
  CrossValidation result(const Dataset& data) const {
    LabelledMetrics table = seen.metrics(data, "seen");
    const LabelledMetrics others = unseen.metrics(data, "unseen");
    table.insert(table.end(), others.begin(), others.end());
    return {table, unseen_errors};
  }
};

}  // namespace

CrossValidation cross_validate(const Dataset& data, const std::vector<Fold>& folds,
                               const MlpOptions& options, const ProgressCallback& progress) {
  check_options(options);
  set_torch_threads(options.threads);
  FoldPredictions predictions;
  std::int64_t epochs_before = 0;
  for (const Fold& fold : folds) {
    torch::manual_seed(static_cast<std::uint64_t>(options.seed));
    const Split split =
        split_groups_of(data.problem, fold.training, options.validation_fraction, options.seed);
    Training training(data, make_part(data, split.training), make_part(data, split.validation),
                      options);
    const auto show = [&](EpochReport report) {
      if (progress) {
        report.epoch += epochs_before;
        report.epochs = options.epochs * static_cast<std::int64_t>(folds.size());
        progress(report);
      }
    };
    const ModelRecord record = record_of(data, nullptr, {}, split);
    run_epochs(training, record, show, {});
    epochs_before += options.epochs;
    predictions.add(ScriptModel(to_torch_script(training.best_network()), record, "fold"), data,
                    fold);
  }
  return predictions.result(data);
}

CrossValidation cross_validate(const Dataset& data, const std::vector<Fold>& folds,
                               const RatioOptions& options, const ProgressCallback& progress) {
  check_options(options);
  set_torch_threads(options.threads);
  std::vector<std::vector<std::int64_t>> rows_of_fits;
  for (const Fold& fold : folds) {
    rows_of_fits.push_back(fold.training);
  }
  EnsembleTraining training(data, rows_of_fits, options);
  const ModelRecord record = record_of(data, nullptr, {}, {all_rows(data), {}});
  run_epochs(training, record, progress, {});
  FoldPredictions predictions;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    predictions.add(
        ScriptModel(to_torch_script(training.members(i), training.scaling(i)), record, "fold"),
        data, folds[i]);
  }
  return predictions.result(data);
}

}  // namespace pw
