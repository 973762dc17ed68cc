#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli.h"
#include "pw/collective.h"
#include "pw/hardware_catalog.h"
#include "pw/model_loader.h"

namespace pw {

// The options of pw-predict that say which models answer and for which GPUs.
struct PredictorArguments {
  std::vector<std::string> hardware;  // stems, full names or aliases
  std::optional<std::filesystem::path> hardware_folder;
  std::optional<std::filesystem::path> checkpoint_folder;
  std::vector<std::string> checkpoints;  // "gemm=my.pt"
  std::optional<InputTransform> input_transform;
  std::optional<std::filesystem::path> collectives;
  std::optional<std::filesystem::path> gemm_table;
  PredictionMethod method = PredictionMethod::learned;
  NetworkEngine runtime = NetworkEngine::automatic;
  bool published_rules = false;
};

cli::Option* add_runtime_option(cli::App& app, NetworkEngine& runtime);
void add_predictor_options(cli::App& app, PredictorArguments& arguments);

HardwareCatalog hardware_catalog(const PredictorArguments& arguments);
// The GPUs that --hardware names, each once; "all" stands for those of the catalog.
std::vector<const HardwareSpec*> requested_gpus(const HardwareCatalog& catalog,
                                                const PredictorArguments& arguments);

// The checkpoints of `families` under the names of ModelSet: the file given for a name, else
// <folder>/<name>.pt. A family without a file is left out if it has an analytic form or `optional`
// is set, otherwise it is a DataError.
ModelSet load_models(const PredictorArguments& arguments, const std::vector<std::string>& families,
                     bool optional);

OperatorPredictorOptions predictor_options(const PredictorArguments& arguments);

// The collective models and where they come from (file name and SHA-256).
struct LoadedCollectives {
  CollectiveCatalog catalog;
  std::string provenance;
};
LoadedCollectives load_collectives(const PredictorArguments& arguments);

// By name all that predictions depend on beside the operators and the GPU: models, collectives,
// tables, method.
std::vector<std::pair<std::string, std::string>> predictor_inputs(
    const PredictorArguments& arguments, const ModelSet& models,
    const LoadedCollectives& collectives);

// "gemm.pt sha256:0123456789ab": enough to recognise a file by.
std::string file_provenance(const std::filesystem::path& path);

}  // namespace pw
