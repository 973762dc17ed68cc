#include "train_quantile.h"

#include <iostream>
#include <memory>
#include <numeric>
#include <vector>

#include "app.h"
#include "config_file.h"
#include "metrics.h"
#include "model/torch_training.h"
#include "pw/quantile_trainer.h"
#include "pw/training_report.h"
#include "stop_request.h"
#include "torch_engine.h"
#include "train_mlp_options.h"
#include "training_progress.h"

namespace pw {
namespace {

constexpr std::int64_t kPublishedEpochs = 200;

struct QuantileArguments {
  MlpArguments training;
  QuantileOptions quantiles;
  KernelReportOptions kernels;
};

TrainingRun train(const TorchTraining& torch, const QuantileArguments& arguments,
                  const Dataset& data) {
  TrainingProgress progress(std::cerr);
  const auto show = [&](const EpochReport& report) { progress.show(report); };
  const StopRequest stop_request;
  RunControl control = arguments.training.control;
  control.stop = StopRequest::is_made;
  const std::filesystem::path& output = arguments.training.output;
  TrainingRun run =
      arguments.training.recommended()
          ? torch.run_log_ratio_quantile(data, arguments.training.ratio, arguments.quantiles,
                                         output, show, control)
          : torch.run_mlp_quantile(data, arguments.training.mlp, output, show, control);
  progress.finish();
  return run;
}

void write_report(const TorchTraining& torch, const QuantileArguments& arguments,
                  const TrainingRun& run, const Dataset& data) {
  const auto model = torch.load_checkpoint(arguments.training.output);
  std::vector<std::int64_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0);
  const std::filesystem::path& folder = *arguments.training.report;
  write_quantile_report(folder, run, data, predicted_efficiency(*model, data, rows),
                        {arguments.training.data.train, {}, local_time_stamp()}, arguments.kernels);
  std::cerr << "wrote the report in " << folder.string() << '\n';
}

// The published model has one quantile; the options of the kernel reports need the report.
void settle(QuantileArguments& arguments) {
  check_arguments(arguments.training);
  if (arguments.training.recommended()) {
    return;
  }
  if (arguments.quantiles.quantiles.size() > 1 || !arguments.training.data.hold_out_by.empty()) {
    throw UsageError(
        "--preset published fits one quantile to all rows: give one --quantile and no "
        "--hold-out-groups, or choose --preset recommended");
  }
  arguments.training.mlp.quantile = arguments.quantiles.quantiles.front();
}

int run(QuantileArguments arguments) {
  settle(arguments);
  const TorchTraining& torch = *torch_engine("pw-train quantile").training;
  torch.use_fitting_openblas_core();
  const TrainingData data = read_training_data(
      arguments.training.data,
      arguments.training.recommended() ? ModelKind::log_ratio : ModelKind::efficiency);
  const TrainingRun run = train(torch, arguments, data.train);
  if (run.saved) {
    print_coverage(std::cout, run.record, run.record.coverage);
    std::cerr << "wrote " << arguments.training.output.string() << '\n';
    if (arguments.training.report) {
      write_report(torch, arguments, run, data.train);
    }
  }
  if (run.stopped) {
    std::cerr << "stopped on request after epoch " << run.curve.size() << " of "
              << run.curve.back().epochs << (run.saved ? "" : ": no checkpoint") << '\n';
    return kStopped;
  }
  return kDone;
}

void add_quantile_options(cli::App& command, QuantileArguments& arguments) {
  const std::string group = "Quantiles";
  QuantileOptions& quantiles = arguments.quantiles;
  command
      .add_option("--quantile", quantiles.quantiles,
                  "Share of measurements that stay at or below the predicted performance; the "
                  "first one is the model's output (several with preset recommended)")
      ->type_name("Q...")
      ->check(cli::Range(0.001, 0.999))
      ->default_str("0.8")
      ->group(group);
  command
      .add_option("--hold-out-groups", arguments.training.data.hold_out_by,
                  "Also tell the coverage on unseen groups of these columns (preset recommended)")
      ->type_name("COLUMN,...")
      ->delimiter(',')
      ->group(group);
  command
      .add_option("--hold-out-folds", quantiles.hold_out_folds,
                  "Parts in which the groups are held out in turn")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--calibration-fraction", quantiles.calibration_fraction,
                  "Share of the rows that calibrates the quantiles and is not fitted (preset "
                  "recommended)")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--report-threshold", arguments.kernels.threshold,
                  "Report kernels with measured - predicted overall_perf below it")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--report-topk", arguments.kernels.topk,
                  "Report at most so many kernels of each GPU, the worst ones")
      ->check(cli::PositiveNumber())
      ->group(group);
}

}  // namespace

void add_quantile_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "quantile", "Fit the ceiling of performance: what most kernels of a kind do not exceed");
  const auto arguments = std::make_shared<QuantileArguments>();
  MlpArguments& training = arguments->training;
  training.mlp.epochs = kPublishedEpochs;
  add_config_option(*command);
  add_training_data_options(*command, training.data);
  command->remove_option(command->get_option("--test"));
  add_preset_option(*command, training, "the original's network, one quantile, not calibrated",
                    "an ensemble on dimensionless features, any quantiles, calibrated");
  add_quantile_options(*command, *arguments);
  add_fit_options(*command, training);
  add_run_options(*command, training, "metadata.json, loss_curve.csv and kernel_reports/");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace pw
