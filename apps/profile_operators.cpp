#include "profile_operators.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "app.h"
#include "io/files.h"
#include "io/sha256.h"
#include "option_values.h"
#include "profile_device.h"
#include "progress_line.h"
#include "pw/data_paths.h"
#include "stop_request.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  DeviceArguments device;
  std::vector<std::string> operators;
  std::string preset;
  std::optional<fs::path> plan;
  std::string operands = "cold";
  ProfileOptions options;
};

// A line every now and then, and the last one.
void show(const ProfileProgress& progress, ProgressLine& line) {
  if (line.is_due() || progress.done == progress.total) {
    line.print(std::to_string(progress.done) + " of " + std::to_string(progress.total) +
               ", about " + minutes(progress.seconds_left) + " left, " + progress.last);
  }
}

// Without --operator everything that this device has a kernel for.
void leave_out_refused(ProfilePlan& plan, const ProfiledDevice& device) {
  std::set<std::string> refusals;
  plan.erase(std::remove_if(plan.begin(), plan.end(),
                            [&](const OperatorConfig& config) {
                              const std::string refusal =
                                  device.refusal(operator_family(config).name);
                              if (!refusal.empty()) {
                                refusals.insert(refusal);
                              }
                              return !refusal.empty();
                            }),
             plan.end());
  for (const std::string& refusal : refusals) {
    std::cerr << "left out: " << refusal << '\n';
  }
  if (plan.empty()) {
    throw DataError("nothing is left of the plan: add operators that " + device.library() +
                    " has kernels for");
  }
}

void report(const ProfileOutcome& outcome, const ProfileOptions& options) {
  std::cerr << "measured " << outcome.measured << " problems";
  if (outcome.from_before > 0) {
    std::cerr << ", " << outcome.from_before << " were there";
  }
  std::cerr << ", of " << outcome.total << '\n';
  for (const std::string& problem : outcome.not_measured) {
    std::cerr << "not measured: " << problem << '\n';
  }
  if (outcome.stopped || outcome.out_of_time) {
    std::cerr << (outcome.stopped ? "stopped on request" : "the time budget is spent")
              << ": the rows so far cover the plan evenly; go on with --resume --output "
              << options.output.string() << '\n';
  }
  for (const fs::path& file : outcome.files) {
    std::cout << file.string() << '\n';
  }
}

int run(Arguments arguments) {
  ProfileOptions& options = arguments.options;
  options.operands = parse_operands(arguments.operands);
  const fs::path plan_file =
      arguments.plan ? *arguments.plan
                     : find_data_file(fs::path("config") / "plans" / (arguments.preset + ".json"));
  ProfilePlan plan = read_profile_plan(plan_file, arguments.operators);
  options.plan_name = plan_file.filename().string() + " sha256:" + sha256_hex(read_file(plan_file));
  const std::unique_ptr<ProfiledDevice> device = open_device(arguments.device);
  const HardwareSpec hardware = hardware_of(*device, arguments.device);
  if (arguments.operators.empty()) {
    leave_out_refused(plan, *device);
  }
  std::cerr << device->info().name << ", " << device->library() << ", " << plan.size()
            << " problems, operands " << arguments.operands << '\n';
  ProgressLine line(std::cerr);
  const StopRequest stop_request;
  const ProfileOutcome outcome = run_profile(
      plan, *device, hardware, options,
      [&](const ProfileProgress& progress) { show(progress, line); }, StopRequest::is_made);
  line.finish();
  report(outcome, options);
  return outcome.stopped ? kStopped : kDone;
}

}  // namespace

void add_operator_profile(cli::App& app, std::function<int()>& action) {
  constexpr char kWhat[] = "What is measured";
  const auto arguments = std::make_shared<Arguments>();
  ProfileOptions& options = arguments->options;
  app.add_option("--operator", arguments->operators,
                 "Operators of the plan; unless given all\nthat the device has kernels for")
      ->delimiter(',')
      ->check(cli::Check(check_operator_name))
      ->option_text("gemm,attn,...")
      ->group(kWhat);
  cli::Option* preset =
      app.add_option("--preset", arguments->preset, "A plan that ships: config/plans/*.json")
          ->check(cli::IsMember({"quick", "standard", "full"}))
          ->option_text("quick|standard|full")
          ->group(kWhat);
  app.add_option("--plan", arguments->plan, "A plan of your own, see docs/profiling.md")
      ->excludes(preset)
      ->option_text("FILE")
      ->group(kWhat);
  app.add_option("--weights", arguments->operands,
                 "Operands in DRAM, as in a model (cold), or in the cache where they fit (hot)")
      ->check(cli::IsMember({"cold", "hot"}))
      ->option_text("cold|hot")
      ->group(kWhat);
  app.add_option("--output", options.output, "Folder of <operator>.csv and <operator>.json")
      ->option_text("FOLDER")
      ->group("Run");
  app.add_option("--minutes", options.minutes, "Stop after this time, with what is measured")
      ->check(cli::PositiveNumber())
      ->option_text("M")
      ->group("Run");
  app.add_flag("--resume", options.resume, "Go on with the rows that --output has")->group("Run");
  app.add_flag("--with-features", options.with_features,
               "Also write the columns that follow from the others: features and overall_perf")
      ->group("Run");
  add_device_options(app, arguments->device);
  app.parse_complete_callback([&app, &action, arguments] {
    if (!app.get_subcommands().empty()) {
      refuse_main_options(app);
      return;
    }
    if (arguments->preset.empty() && !arguments->plan) {
      throw cli::RequiredError("--preset or --plan");
    }
    if (arguments->options.output.empty()) {
      throw cli::RequiredError("--output");
    }
    action = [arguments] { return run(*arguments); };
  });
}

}  // namespace pw
