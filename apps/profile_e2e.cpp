#include "profile_e2e.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "app.h"
#include "io/files.h"
#include "profile/torch_profiling.h"
#include "profile_device.h"
#include "torch_engine.h"
#include "workload_options.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  DeviceArguments device;
  WorkloadArguments workload;
  std::int64_t warm_ups = 1, runs = 3;
  fs::path output = ".";
};

void require_one_device(const WorkloadOptions& options) {
  if (options.tp_size != 1 || options.pp_size != 1) {
    throw UsageError("--tp " + std::to_string(options.tp_size) + " --pp " +
                     std::to_string(options.pp_size) +
                     ": models are measured on one device, expected 1 and 1");
  }
}

std::string file_name(const HardwareSpec& hardware) {
  std::string name = "e2e_" + hardware.stem + ".jsonl";
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

int run(const Arguments& arguments) {
  require_one_device(arguments.workload.options);
  const ModelConfig model = asked_model(arguments.workload);
  const Trace trace = asked_requests(arguments.workload);
  const std::vector<Request> requests = in_leaving_order(trace.requests);
  const std::unique_ptr<ProfiledDevice> device = open_device(arguments.device);
  const HardwareSpec hardware = hardware_of(*device, arguments.device);
  for (const Facts* facts : {&model.facts, &trace.facts}) {
    for (const Fact& fact : *facts) std::cerr << "note: " << fact.sentence << '\n';
  }
  const std::unique_ptr<Transformer> transformer =
      torch_engine("pw-profile e2e").profiling->make_transformer(model, requests, *device);
  std::vector<EndToEndRun> runs;
  for (std::int64_t i = -arguments.warm_ups; i < arguments.runs; ++i) {
    const EndToEndRun measured = run_end_to_end(*transformer, model, requests);
    std::cerr << (i < 0 ? "warm-up" : "run " + std::to_string(i + 1)) << ": prefill "
              << 1e3 * measured.prefill_s << " ms, " << measured.decode_s.size()
              << " decode steps, total " << 1e3 * measured.total_s << " ms\n";
    if (i >= 0) {
      runs.push_back(measured);
    }
  }
  const fs::path path = arguments.output / file_name(hardware);
  const std::string run_name = model.stem + "-" + trace.stem;
  const std::string before = fs::exists(path) ? read_file(path) : "";
  if (before.find("\"" + run_name + "\"") != std::string::npos) {
    throw DataError(path.string() + " has runs of " + run_name +
                    ": remove the file or choose another --output");
  }
  write_file_atomic(path,
                    before + sglang_lines(run_name, requests, runs,
                                          "pw-profile " PW_VERSION ", " + device->library() + ", " +
                                              device->dtype() + ", " + device->info().name));
  std::cout << path.string() << '\n';
  return kDone;
}

}  // namespace

void add_e2e_command(cli::App& app, std::function<int()>& action) {
  cli::App* command = app.add_subcommand(
      "e2e", "Run a model with random weights and write its latencies for pw-compare");
  const auto arguments = std::make_shared<Arguments>();
  const WorkloadOptionHandles options = add_workload_options(*command, arguments->workload);
  command->add_option("--runs", arguments->runs, "Runs that are written (3)")
      ->check(cli::PositiveNumber())
      ->option_text("N");
  command->add_option("--warm-up", arguments->warm_ups, "Runs before them (1)")
      ->check(cli::NonNegativeNumber())
      ->option_text("N");
  command
      ->add_option("--output", arguments->output,
                   "Folder (the current one) of e2e_<device>.jsonl, to which runs are added")
      ->option_text("FOLDER");
  add_device_options(*command, arguments->device);
  command->parse_complete_callback([options] { options.require_requests(); });
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace pw
