#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli.h"
#include "pw/workload.h"

namespace pw {

// The options of pw-workload and pw-predict that say what runs: model, requests, parallelism.
struct WorkloadArguments {
  std::string model;  // a config.json, or the stem of a shipped one
  std::optional<std::filesystem::path> config_folder;
  std::optional<std::filesystem::path> trace;
  bool skip_bad_rows = false;
  std::optional<std::int64_t> batch;
  std::int64_t offset = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  WorkloadOptions options;  // published_rules is an option of each program
};

// Attention kernels and norms alone.
void add_kernel_options(cli::App& app, WorkloadOptions& options);

struct WorkloadOptionHandles {
  cli::Option* model = nullptr;
  cli::Option* trace = nullptr;
  cli::Option* input_tokens = nullptr;

  // Throws a usage error unless the model and a trace or request lengths were given.
  void require_requests() const;
};
WorkloadOptionHandles add_workload_options(cli::App& app, WorkloadArguments& arguments);

Trace asked_requests(const WorkloadArguments& arguments);
ModelConfig asked_model(const WorkloadArguments& arguments);
Workload make_workload(const WorkloadArguments& arguments);

}  // namespace pw
