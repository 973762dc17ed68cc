#include "train_evaluate.h"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app.h"
#include "config_file.h"
#include "error_bands.h"
#include "fact_json.h"
#include "io/files.h"
#include "metrics_json.h"
#include "model/torch_training.h"
#include "pw/cross_validation.h"
#include "pw/quantile_trainer.h"
#include "torch_engine.h"
#include "train_mlp_options.h"
#include "training_progress.h"

namespace pw {
namespace {

constexpr char kPurpose[] = "pw-train evaluate";
constexpr std::int64_t kFolds = 5;

struct EvaluateArguments {
  MlpArguments training;
  std::optional<std::filesystem::path> checkpoint, output;
  std::optional<std::int64_t> folds;
  bool leave_one_gpu_out = false;
  double seen_fraction = 0.1;

  bool has_groups() const { return !training.data.hold_out_by.empty(); }
};

void write_result(const EvaluateArguments& arguments, Json json) {
  if (arguments.output) {
    json["schema_version"] = kSchemaVersion;
    write_file_atomic(*arguments.output, to_json_text(json) + "\n");
    std::cerr << "wrote " << arguments.output->string() << '\n';
  }
}

int evaluate_checkpoint(const TorchTraining& torch, const EvaluateArguments& arguments) {
  const auto model = torch.load_checkpoint(*arguments.checkpoint);
  const ModelRecord& record = model->record();
  const Dataset data = read_rows_for(arguments.training.data, record);
  const LabelledMetrics metrics = evaluate_model(*model, data, "test");
  print_metrics(std::cout, metrics);
  Json json = {{"checkpoint", arguments.checkpoint->filename().string()},
               {"operator", record.operator_name},
               {"metrics", metrics_json(metrics)}};
  if (record.output_quantile) {
    const LabelledCoverage coverage = evaluate_coverage(*model, data, "test");
    print_coverage(std::cout, record, coverage);
    json["quantiles"] = record.quantiles;
    json["coverage"] = coverage_json(coverage);
  } else if (const LabelledCoverage within = band_coverage(*model, data, "test"); !within.empty()) {
    print_band_coverage(std::cout, within);
    json["within_p10_p90"] = coverage_json(within);
  }
  write_result(arguments, json);
  return kDone;
}

// What the training rows lack of the unseen ones.
std::string held_out(const EvaluateArguments& arguments, const Dataset& data) {
  if (arguments.leave_one_gpu_out) {
    return "GPU, one at a time";
  }
  const std::string what = arguments.has_groups() ? described_groups(data) : "problems";
  return arguments.folds || !arguments.has_groups()
             ? what + ", in " + std::to_string(arguments.folds.value_or(kFolds)) + " folds"
             : what + ", one part of " + std::to_string(kFolds);
}

std::vector<Fold> plan_folds(const EvaluateArguments& arguments, const Dataset& data) {
  const std::int64_t seed = arguments.training.mlp.seed;
  const std::int64_t count = arguments.folds.value_or(kFolds);
  std::vector<Fold> folds =
      arguments.leave_one_gpu_out
          ? gpu_folds(data)
          : group_folds(arguments.has_groups() ? data.hold_out_group : data.problem, count, seed);
  if (arguments.has_groups() && !arguments.folds) {
    folds.resize(1);
  }
  if (arguments.has_groups() || arguments.leave_one_gpu_out) {
    keep_seen_rows(data, arguments.seen_fraction, seed, folds);
  }
  return folds;
}

int evaluate_training(const TorchTraining& torch, const EvaluateArguments& arguments) {
  const bool recommended = arguments.training.recommended();
  const Dataset data =
      read_training_data(arguments.training.data,
                         recommended ? ModelKind::log_ratio : ModelKind::efficiency)
          .train;
  const std::vector<Fold> folds = plan_folds(arguments, data);
  TrainingProgress progress(std::cerr);
  const auto show = [&](const EpochReport& report) { progress.show(report); };
  const CrossValidation result =
      recommended ? torch.cross_validate_log_ratio(data, folds, arguments.training.ratio, show)
                  : torch.cross_validate_mlp(data, folds, arguments.training.mlp, show);
  progress.finish();
  const std::string what = held_out(arguments, data);
  const std::optional<HeldOutErrors> errors =
      arguments.leave_one_gpu_out
          ? new_gpu_errors(data, result.unseen, what)
          : known_gpu_errors(data, result.unseen,
                             arguments.has_groups() ? data.hold_out_group : data.problem,
                             arguments.training.mlp.seed, what);
  std::cout << "held out: " << what << '\n';
  print_metrics(std::cout, result.metrics);
  print_error_bands(std::cout, errors);
  Json json = {{"operator", std::string(data.family->name)},
               {"preset", arguments.training.preset},
               {"held_out", what},
               {"metrics", metrics_json(result.metrics)}};
  if (errors) {
    json["errors"] = held_out_errors_json(*errors);
  }
  write_result(arguments, json);
  return kDone;
}

int run(const EvaluateArguments& arguments) {
  const TrainingDataArguments& data = arguments.training.data;
  if (arguments.checkpoint) {
    if (data.test.empty() || !data.train.empty()) {
      throw UsageError("--checkpoint is evaluated on the rows of --test: give that alone");
    }
    return evaluate_checkpoint(*torch_engine(kPurpose).training, arguments);
  }
  if (data.train.empty() || data.operator_name.empty() || !data.test.empty()) {
    throw UsageError(
        "a training is evaluated on rows of its own: give --operator and --train, or --checkpoint "
        "and --test");
  }
  check_arguments(arguments.training);
  const TorchTraining& torch = *torch_engine(kPurpose).training;
  torch.use_fitting_openblas_core();
  return evaluate_training(torch, arguments);
}

void add_plan_options(cli::App& command, EvaluateArguments& arguments) {
  const std::string group = "What is held out";
  command
      .add_option("--checkpoint", arguments.checkpoint,
                  "Evaluate this model on --test instead of a training")
      ->type_name("FILE")
      ->group(group);
  cli::Option* folds =
      command
          .add_option("--folds", arguments.folds,
                      "Hold each problem (with --hold-out-groups: each group) out once, in so many "
                      "parts (5)")
          ->check(cli::Range(2, 1000))
          ->group(group);
  cli::Option* groups =
      command
          .add_option("--hold-out-groups", arguments.training.data.hold_out_by,
                      "Hold out whole groups of rows with equal cells in these columns; without "
                      "--folds one fifth of them")
          ->type_name("COLUMN,...")
          ->delimiter(',')
          ->group(group);
  command
      .add_flag("--leave-one-gpu-out", arguments.leave_one_gpu_out,
                "Predict each GPU by a fit to all others")
      ->excludes(folds)
      ->excludes(groups)
      ->group(group);
  command
      .add_option("--seen-fraction", arguments.seen_fraction,
                  "Share of the rows of seen groups or GPUs that are held out too, to compare")
      ->check(cli::Range(0.001, 0.9))
      ->capture_default_str()
      ->group(group);
  command.add_option("--output", arguments.output, "Write the result there as JSON")
      ->type_name("FILE");
}

}  // namespace

void add_evaluate_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "evaluate", "Tell how well a checkpoint, or a training on unseen rows, predicts");
  const auto arguments = std::make_shared<EvaluateArguments>();
  MlpArguments& training = arguments->training;
  add_config_option(*command);
  add_training_data_options(*command, training.data);
  command->get_option("--operator")->required(false);
  command->get_option("--train")->required(false);
  add_plan_options(*command, *arguments);
  add_preset_option(*command, training, "the original's network and features",
                    "an ensemble on dimensionless features");
  add_fit_options(*command, training);
  add_validation_options(*command, training);
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace pw
