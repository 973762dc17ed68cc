#include <limits>

#include <torch/torch.h>

#include "io/files.h"
#include "io/json_file.h"
#include "model/ratio_training.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "model/training_record.h"
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

}  // namespace

TrainingRun run_log_ratio_training(const Dataset& train, const Dataset* test,
                                   const RatioOptions& options, const std::filesystem::path& output,
                                   const ProgressCallback& progress, const RunControl& control) {
  check_options(options);
  set_torch_threads(options.threads);
  const Split split =
      split_dataset(train, options.validation_fraction, options.seed, /*published_split=*/false);
  std::vector<std::vector<std::int64_t>> rows_of_fits{split.training};
  if (options.refit) {
    rows_of_fits.push_back(all_rows(train));
  }
  EnsembleTraining training(train, rows_of_fits, options);
  TrainingRun run;
  run.record = record_of(train, test, options_of(options), split);
  run.validation_rows = split.validation;
  run.network = {options.hidden_widths, options.members, 0, training.parameters()};
  run.curve = run_epochs(training, run.record, progress, control);
  run.stopped = !training.finished();
  run.saved = training.complete_fits() > 0;
  if (!run.saved) {
    return run;
  }

  predict_validation(ScriptModel(script_of(training, 0), run.record, output.string()), train, run);
  const bool refitted = training.complete_fits() > 1;
  if (refitted) {
    run.record.training.emplace_back(
        "validation", "of the same fit without the validation rows; the model has all rows");
  } else if (options.refit) {
    run.record.training.emplace_back("stopped", "on request, before the fit of all rows");
  }
  const torch::jit::Module script = script_of(training, refitted ? 1 : 0);
  predict_test(ScriptModel(script, run.record, output.string()), test, run);
  write_file_atomic(output, checkpoint_bytes(script, run.record));
  return run;
}

ModelRecord train_log_ratio(const Dataset& train, const Dataset* test, const RatioOptions& options,
                            const std::filesystem::path& output, const ProgressCallback& progress) {
  return run_log_ratio_training(train, test, options, output, progress, {}).record;
}

}  // namespace pw
