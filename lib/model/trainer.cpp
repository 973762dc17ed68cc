#include "pw/trainer.h"

#include <limits>

#include <torch/torch.h>

#include "io/files.h"
#include "io/json_file.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "model/training.h"
#include "model/training_record.h"

namespace pw {

void check_options(const MlpOptions& o) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kSmallest = std::numeric_limits<double>::min();
  check_at_least("epochs", o.epochs, 1);
  check_at_least("batch_size", o.batch_size, 2);
  check_at_least("scheduler_patience", o.scheduler_patience, 0);
  check_at_least("early_stopping_patience", o.early_stopping_patience, 1);
  check_at_least("threads", o.threads, 1);
  check_between("learning_rate", o.learning_rate, kSmallest, kMax);
  check_between("weight_decay", o.weight_decay, 0, kMax);
  check_between("clip_norm", o.clip_norm, kSmallest, kMax);
  check_between("dropout", o.dropout, 0, 0.99);
  check_between("scheduler_factor", o.scheduler_factor, kSmallest, 1);
  check_between("min_learning_rate", o.min_learning_rate, 0, kMax);
  check_between("validation_fraction", o.validation_fraction, kSmallest, 0.99);
  check_seed(o.seed);
}

NamedValues options_of(const MlpOptions& o) {
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
          {"device", std::string(to_string(o.device))},
          {"libtorch", TORCH_VERSION}};
}

TrainingRun run_mlp_training(const Dataset& train, const Dataset* test, const MlpOptions& options,
                             const std::filesystem::path& output, const ProgressCallback& progress,
                             const RunControl& control) {
  check_options(options);
  set_torch_threads(options.threads);
  torch::manual_seed(static_cast<std::uint64_t>(options.seed));
  const Split split =
      split_dataset(train, options.validation_fraction, options.seed, options.published_split);
  Training training(train, make_part(train, split.training), make_part(train, split.validation),
                    options);
  TrainingRun run;
  run.record = record_of(train, test, options_of(options), split);
  run.validation_rows = split.validation;
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
  predict_validation(model, train, options.seed, run);
  predict_test(model, test, run);
  write_file_atomic(output, checkpoint_bytes(script, run.record));
  return run;
}

ModelRecord train_mlp(const Dataset& train, const Dataset* test, const MlpOptions& options,
                      const std::filesystem::path& output, const ProgressCallback& progress) {
  return run_mlp_training(train, test, options, output, progress, {}).record;
}

}  // namespace pw
