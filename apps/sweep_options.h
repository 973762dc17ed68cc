#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli.h"
#include "engine_options.h"
#include "predictor_options.h"
#include "sweep_run.h"

namespace pw {

// The options of `pw-predict sweep` that say which rows there are and how they are made.
struct SweepArguments {
  std::vector<std::string> models;  // as --model, or "all"
  std::optional<std::filesystem::path> config_folder;
  std::vector<std::filesystem::path> traces;
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> input_tokens, output_tokens;
  std::vector<std::int64_t> tp_sizes{1}, pp_sizes{1};
  WorkloadOptions options;
  PredictorArguments predictor;
  EngineArguments engine;
  SweepFormat format = SweepFormat::csv;
  std::size_t shard = 1, shards = 1;
};

// Usage errors beyond single values, such as a tp named twice, are thrown when parsing completes.
void add_sweep_options(cli::App& app, SweepArguments& arguments);
void check_sweep_options(const cli::App& app, const SweepArguments& arguments);

// A sweep with the files that it was read from: names with file name and SHA-256.
struct LoadedSweep {
  Sweep sweep;
  std::vector<std::pair<std::string, std::string>> inputs;
};
LoadedSweep load_sweep(const SweepArguments& arguments,
                       const std::vector<const HardwareSpec*>& gpus);

}  // namespace pw
