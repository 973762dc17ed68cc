#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli.h"
#include "predictor_options.h"
#include "pw/engine_profile.h"

namespace pw {

// The options of pw-predict that say what the serving engine adds to the model's kernels.
struct EngineArguments {
  std::string engine = "sglang";
  std::vector<std::string> left_out;
};

struct EngineOptionHandles {
  cli::Option* engine = nullptr;
  cli::Option* without = nullptr;
};
EngineOptionHandles add_engine_options(cli::App& app, EngineArguments& arguments);

// No engine for baselines and under the published rules, which sum the model's own kernels alone.
std::optional<EngineProfile> engine_profile(const EngineArguments& arguments,
                                            const PredictorArguments& predictor);

}  // namespace pw
