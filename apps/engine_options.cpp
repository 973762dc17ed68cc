#include "engine_options.h"

#include <algorithm>

#include "comma_list.h"
#include "pw/data_paths.h"

namespace pw {

EngineOptionHandles add_engine_options(cli::App& app, EngineArguments& arguments) {
  EngineOptionHandles handles;
  handles.engine =
      app.add_option(
             "--engine", arguments.engine,
             "Serving engine, whose small kernels and host time are counted, and its version "
             "(the newest): sglang (default), vllm, fastertransformer, or none")
          ->option_text("NAME[@VERSION]");
  handles.without =
      app.add_option("--without", arguments.left_out,
                     "Leave out some of what the engine adds: rope, kv_store, qk_norm, kv_merge, "
                     "embedding, logits, host")
          ->delimiter(',')
          ->option_text("NAME,...");
  return handles;
}

std::optional<EngineProfile> engine_profile(const EngineArguments& arguments,
                                            const PredictorArguments& predictor) {
  if (arguments.engine == "none" || predictor.published_rules ||
      predictor.method != PredictionMethod::learned) {
    return std::nullopt;
  }
  EngineProfile engine =
      read_engine_profile(find_data_folder("config", std::nullopt) / "engines", arguments.engine);
  for (const std::string& name : arguments.left_out) {
    const auto& known = engine_operator_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError("--without " + name + ", expected one of " +
                       comma_list(std::vector<std::string>(known.begin(), known.end())));
    }
    engine.left_out.insert(name);
  }
  return engine;
}

}  // namespace pw
