#include <algorithm>
#include <limits>

#include <torch/torch.h>

#include "comma_list.h"
#include "error_bands.h"
#include "io/files.h"
#include "io/json_file.h"
#include "metrics.h"
#include "model/ratio_training.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "model/training_record.h"
#include "pw/cross_validation.h"
#include "pw/trainer.h"

namespace pw {

void check_options(const RatioOptions& o) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kSmallest = std::numeric_limits<double>::min();
  check_at_least("epochs", o.epochs, 1);
  check_at_least("batch_size", o.batch_size, 1);
  check_at_least("members", o.members, 1);
  check_at_least("threads", o.threads, 1);
  for (const std::int64_t width : o.hidden_widths) {
    check_at_least("hidden_widths", width, 1);
  }
  check_between("learning_rate", o.learning_rate, kSmallest, kMax);
  check_between("weight_decay", o.weight_decay, 0, kMax);
  check_between("clip_norm", o.clip_norm, kSmallest, kMax);
  check_between("input_noise", o.input_noise, 0, kMax);
  check_between("warm_up", o.warm_up, kSmallest, 0.99);
  check_between("validation_fraction", o.validation_fraction, kSmallest, 0.99);
  check_at_least("hold_out_folds", o.hold_out_folds, 2);
  check_seed(o.seed);
}

NamedValues options_of(const RatioOptions& o) {
  std::string widths;
  for (const std::int64_t width : o.hidden_widths) {
    widths += (widths.empty() ? "" : "-") + std::to_string(width);
  }
  return {{"epochs", std::to_string(o.epochs)},
          {"batch_size", std::to_string(o.batch_size)},
          {"learning_rate", python_repr(o.learning_rate)},
          {"weight_decay", python_repr(o.weight_decay)},
          {"clip_norm", python_repr(o.clip_norm)},
          {"input_noise", python_repr(o.input_noise)},
          {"members", std::to_string(o.members)},
          {"hidden_widths", widths},
          {"warm_up", python_repr(o.warm_up)},
          {"refit", o.refit ? "true" : "false"},
          {"validation_fraction", python_repr(o.validation_fraction)},
          {"seed", std::to_string(o.seed)},
          {"threads", std::to_string(o.threads)},
          {"device", std::string(to_string(o.device))},
          {"libtorch", TORCH_VERSION}};
}

namespace {

torch::jit::Module script_of(const EnsembleTraining& training, std::size_t fit) {
  return to_torch_script(training.members(fit), training.scaling(fit));
}

// The fits of a run, in their order.
struct FitPlan {
  Split split;
  bool refit = false;
  std::vector<Fold> groups, gpus;  // what the fits of the bands hold out

  std::size_t model() const { return refit ? 1 : 0; }
  std::size_t first_of_groups() const { return model() + 1; }
  std::size_t first_of_gpus() const { return first_of_groups() + groups.size(); }
};

FitPlan plan_fits(const Dataset& train, const RatioOptions& options) {
  FitPlan plan;
  plan.split =
      split_dataset(train, options.validation_fraction, options.seed, /*published_split=*/false);
  plan.refit = options.refit;
  if (!train.hold_out_group.empty()) {
    plan.groups = group_folds(train.hold_out_group, options.hold_out_folds, options.seed);
  }
  if (options.leave_one_gpu_out) {
    plan.gpus = gpu_folds(train);
  }
  return plan;
}

std::vector<std::vector<std::int64_t>> rows_of_fits(const FitPlan& plan, const Dataset& train) {
  std::vector<std::vector<std::int64_t>> rows{plan.split.training};
  if (plan.refit) {
    rows.push_back(all_rows(train));
  }
  for (const std::vector<Fold>* folds : {&plan.groups, &plan.gpus}) {
    for (const Fold& fold : *folds) {
      rows.push_back(fold.training);
    }
  }
  return rows;
}

NamedValues hold_out_options(const FitPlan& plan, const Dataset& train) {
  NamedValues values;
  if (!plan.groups.empty()) {
    values = {{"hold_out_by", comma_list(train.options.hold_out_by)},
              {"hold_out_folds", std::to_string(plan.groups.size())}};
  }
  if (!plan.gpus.empty()) {
    values.emplace_back("leave_one_gpu_out", "true");
  }
  return values;
}

// How the fits from number `first` on, one per fold, err on what it holds out.
std::vector<FitErrors> unseen_errors(const EnsembleTraining& training, std::size_t first,
                                     const std::vector<Fold>& folds, const Dataset& train,
                                     const ModelRecord& record) {
  std::vector<FitErrors> errors;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const std::vector<std::int64_t>& rows = folds[i].unseen;
    const ScriptModel model(script_of(training, first + i), record, "fold");
    errors.push_back(fit_errors(train, rows, predicted_efficiency(model, train, rows)));
  }
  return errors;
}

// Of the complete training.
void set_bands(const EnsembleTraining& training, const FitPlan& plan, const Dataset& train,
               std::int64_t seed, ModelRecord& record) {
  if (!plan.groups.empty()) {
    record.known_gpu_errors = known_gpu_errors(
        train, unseen_errors(training, plan.first_of_groups(), plan.groups, train, record),
        train.hold_out_group, seed,
        described_groups(train) + ", in " + std::to_string(plan.groups.size()) +
            " folds, one network each");
  }
  if (!plan.gpus.empty()) {
    record.new_gpu_errors = new_gpu_errors(
        train, unseen_errors(training, plan.first_of_gpus(), plan.gpus, train, record),
        "GPU, one at a time, one network each");
  }
}

}  // namespace

TrainingRun run_log_ratio_training(const Dataset& train, const Dataset* test,
                                   const RatioOptions& options, const std::filesystem::path& output,
                                   const ProgressCallback& progress, const RunControl& control) {
  check_options(options);
  set_torch_threads(options.threads);
  const FitPlan plan = plan_fits(train, options);
  EnsembleTraining training(train, rows_of_fits(plan, train), options, {0.5},
                            /*ensembles=*/plan.first_of_groups());
  TrainingRun run;
  run.record = record_of(train, test, options_of(options), plan.split);
  append(hold_out_options(plan, train), run.record.training);
  run.validation_rows = plan.split.validation;
  run.network = {options.hidden_widths, options.members, 0, training.parameters()};
  run.curve = run_epochs(training, run.record, progress, control);
  run.stopped = !training.finished();
  run.saved = training.complete_fits() > 0;
  if (!run.saved) {
    return run;
  }

  predict_validation(ScriptModel(script_of(training, 0), run.record, output.string()), train,
                     options.seed, run);
  const std::size_t fit = std::min(plan.model(), training.complete_fits() - 1);
  if (fit > 0) {
    run.record.training.emplace_back(
        "validation", "of the same fit without the validation rows; the model has all rows");
  }
  if (!run.stopped) {
    set_bands(training, plan, train, options.seed, run.record);
  } else {
    run.record.training.emplace_back(
        "stopped", fit < plan.model() ? "on request, before the fit of all rows"
                                      : "on request, before the fits that tell the error bands");
  }
  const torch::jit::Module script = script_of(training, fit);
  predict_test(ScriptModel(script, run.record, output.string()), test, run);
  write_file_atomic(output, checkpoint_bytes(script, run.record));
  return run;
}

ModelRecord train_log_ratio(const Dataset& train, const Dataset* test, const RatioOptions& options,
                            const std::filesystem::path& output, const ProgressCallback& progress) {
  return run_log_ratio_training(train, test, options, output, progress, {}).record;
}

}  // namespace pw
