#include "train_mlp.h"

#include <iostream>
#include <memory>

#include "app.h"
#include "model/torch_training.h"
#include "pw/training_report.h"
#include "stop_request.h"
#include "torch_engine.h"
#include "train_mlp_options.h"
#include "training_progress.h"

namespace pw {
namespace {

TrainingRun train(const TorchTraining& torch, const MlpArguments& arguments,
                  const TrainingData& data) {
  TrainingProgress progress(std::cerr);
  const auto show = [&](const EpochReport& report) { progress.show(report); };
  const Dataset* test = data.test ? &*data.test : nullptr;
  const StopRequest stop_request;
  RunControl control = arguments.control;
  control.stop = StopRequest::is_made;
  TrainingRun run =
      arguments.recommended()
          ? torch.run_log_ratio(data.train, test, arguments.ratio, arguments.output, show, control)
          : torch.run_mlp(data.train, test, arguments.mlp, arguments.output, show, control);
  progress.finish();
  return run;
}

// What a run that was stopped leaves behind.
void print_stop(const MlpArguments& arguments, const TrainingRun& run) {
  std::cerr << "stopped on request after epoch " << run.curve.size() << " of at most "
            << run.curve.back().epochs << ": ";
  if (!run.saved) {
    std::cerr << "no checkpoint, because no fit is complete";
  } else {
    std::cerr << "the checkpoint has "
              << (arguments.recommended() ? "a complete fit, whose record says what is missing"
                                          : "the best epoch so far");
  }
  if (arguments.control.save_state) {
    std::cerr << "; go on with --resume " << arguments.control.save_state->string();
  }
  std::cerr << '\n';
}

int run(MlpArguments arguments) {
  settle_mlp_options(arguments);
  const TorchTraining& torch = *torch_engine("pw-train mlp").training;
  torch.use_fitting_openblas_core();
  const TrainingData data = read_training_data(
      arguments.data, arguments.recommended() ? ModelKind::log_ratio : ModelKind::efficiency);
  const TrainingRun run = train(torch, arguments, data);
  if (run.saved) {
    print_metrics(std::cout, run.record.metrics);
    print_error_bands(std::cout, run.record.known_gpu_errors);
    print_error_bands(std::cout, run.record.new_gpu_errors);
    std::cerr << "wrote " << arguments.output.string() << '\n';
    if (arguments.report) {
      write_training_report(*arguments.report, run, data.train, data.test ? &*data.test : nullptr,
                            {arguments.data.train, arguments.data.test, local_time_stamp()});
      std::cerr << "wrote the report in " << arguments.report->string() << '\n';
    }
  }
  if (run.stopped) {
    print_stop(arguments, run);
    return kStopped;
  }
  return kDone;
}

}  // namespace

void add_mlp_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand("mlp", "Fit a network to profiled durations");
  const auto arguments = std::make_shared<MlpArguments>();
  add_mlp_options(*command, *arguments);
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace pw
