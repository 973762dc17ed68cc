#include "predictor_options.h"

#include <algorithm>
#include <map>
#include <memory>

#include "foreign_options.h"
#include "io/files.h"
#include "io/sha256.h"
#include "option_values.h"
#include "pw/data_paths.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kAllGpus[] = "all";

// --checkpoint gemm=FILE, by the name of ModelSet.
std::map<std::string, fs::path> given_checkpoints(const PredictorArguments& arguments) {
  std::map<std::string, fs::path> files;
  for (const std::string& text : arguments.checkpoints) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--checkpoint " + text + ", expected OPERATOR=FILE such as gemm=my.pt");
    }
    const std::string name = text.substr(0, equals);
    if (const std::string problem = check_model_name(name); !problem.empty()) {
      throw UsageError("--checkpoint " + text + ": " + problem);
    }
    if (!files.emplace(name, text.substr(equals + 1)).second) {
      throw UsageError("--checkpoint names '" + name + "' twice, expected one file each");
    }
  }
  return files;
}

const std::map<std::string, PredictionMethod>& methods() {
  static const std::map<std::string, PredictionMethod> all{{"learned", PredictionMethod::learned},
                                                           {"roofline", PredictionMethod::roofline},
                                                           {"linear", PredictionMethod::linear}};
  return all;
}

std::string method_name(PredictionMethod method) {
  const auto& all = methods();
  return std::find_if(all.begin(), all.end(),
                      [&](const auto& entry) { return entry.second == method; })
      ->first;
}

fs::path checkpoint_folder(const PredictorArguments& arguments) {
  return find_data_folder("checkpoints", arguments.checkpoint_folder);
}

}  // namespace

cli::Option* add_runtime_option(cli::App& app, NetworkEngine& runtime) {
  return app
      .add_option_function<std::string>(
          "--runtime",
          [&runtime](const std::string& name) { runtime = parse_network_engine(name); },
          "What evaluates the networks: auto (default), native, or torch, the slower reference; "
          "auto loads LibTorch only for networks that pw-train does not write")
      ->check(cli::IsMember({"auto", "native", "torch"}))
      ->option_text("auto|native|torch");
}

void add_predictor_options(cli::App& app, PredictorArguments& arguments) {
  app.add_option("--hardware-dir", arguments.hardware_folder, "Folder of GPU specs (*.json)")
      ->option_text("FOLDER")
      ->group("Models and data");
  app.add_option("--checkpoints", arguments.checkpoint_folder,
                 "Folder with <operator>.pt and collectives.json")
      ->option_text("FOLDER")
      ->group("Models and data");
  app.add_option("--checkpoint", arguments.checkpoints,
                 "Model of one operator, e.g. gemm=my.pt; may be repeated")
      ->option_text("OPERATOR=FILE")
      ->group("Models and data");
  app.add_option("--gemm-table", arguments.gemm_table,
                 "CSV of profiled GEMM launches whose nearest row lends its tile; without it tiles "
                 "are selected analytically")
      ->option_text("FILE")
      ->group("Models and data");
  add_input_transform_option(app, arguments.input_transform)->group("Models and data");
  add_runtime_option(app, arguments.runtime)->group("Models and data");
  app.add_option_function<std::string>(
         "--method",
         [&arguments](const std::string& name) { arguments.method = methods().at(name); },
         "learned (default); baselines: roofline (nominal rates), linear (linear.json)")
      ->check(cli::IsMember(methods()))
      ->option_text("learned|roofline|linear")
      ->group("Models and data");
  app.add_flag("--published-rules", arguments.published_rules,
               "Reproduce the original: its workload rules (with --model), its GEMM table lookup, "
               "its use "
               "of collective forests, nothing that the engine adds, its output keys alone")
      ->group("Models and data");
}

HardwareCatalog hardware_catalog(const PredictorArguments& arguments) {
  return HardwareCatalog::read(find_data_folder("hardware", arguments.hardware_folder));
}

std::vector<const HardwareSpec*> requested_gpus(const HardwareCatalog& catalog,
                                                const PredictorArguments& arguments) {
  std::vector<const HardwareSpec*> gpus;
  const auto add = [&](const HardwareSpec& gpu) {
    if (std::find(gpus.begin(), gpus.end(), &gpu) == gpus.end()) gpus.push_back(&gpu);
  };
  for (const std::string& name : arguments.hardware) {
    if (name == kAllGpus) {
      for (const HardwareSpec& gpu : catalog.all()) add(gpu);
    } else {
      add(asked_gpu(catalog, name));
    }
  }
  return gpus;
}

ModelSet load_models(const PredictorArguments& arguments, const std::vector<std::string>& families,
                     bool optional) {
  if (arguments.method != PredictionMethod::learned) {
    return {};
  }
  const ModelFiles files{checkpoint_folder(arguments), given_checkpoints(arguments),
                         arguments.input_transform};
  ModelSet models = load_models(files, families, arguments.runtime);
  for (const std::string& family : families) {
    const std::vector<std::string> names = model_names_of(family);
    const bool found = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return models.count(name) != 0;
    });
    if (!found && !optional && !has_analytic_form(family)) {
      throw DataError("no model for operator '" + family + "' in " + files.folder.string() +
                      "; train one with pw-train, or give --checkpoint " + family +
                      "=FILE or --checkpoints FOLDER");
    }
  }
  return models;
}

OperatorPredictorOptions predictor_options(const PredictorArguments& arguments) {
  OperatorPredictorOptions options;
  options.method = arguments.method;
  if (arguments.method == PredictionMethod::linear) {
    options.linear_models = read_linear_models(checkpoint_folder(arguments) / "linear.json");
  }
  if (arguments.gemm_table) {
    options.gemm_tiles = std::make_shared<const TileTable>(TileTable::read(*arguments.gemm_table));
  }
  options.tile_lookup = arguments.published_rules ? TileLookup::published : TileLookup::nearest_log;
  return options;
}

LoadedCollectives load_collectives(const PredictorArguments& arguments) {
  const fs::path path = arguments.collectives ? *arguments.collectives
                                              : checkpoint_folder(arguments) / "collectives.json";
  const WorkerRules rules =
      arguments.published_rules ? WorkerRules::published : WorkerRules::scaled;
  return {CollectiveCatalog::read(path, rules), file_provenance(path)};
}

std::vector<std::pair<std::string, std::string>> predictor_inputs(
    const PredictorArguments& arguments, const ModelSet& models,
    const LoadedCollectives& collectives) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const auto& [name, model] : models) {
    inputs.emplace_back("checkpoint " + name, model.file + " sha256:" + model.sha256);
  }
  if (!collectives.provenance.empty()) {
    inputs.emplace_back("collectives", collectives.provenance);
  }
  if (arguments.gemm_table) {
    inputs.emplace_back("gemm table", file_provenance(*arguments.gemm_table));
  }
  inputs.emplace_back("method", method_name(arguments.method));
  if (arguments.method == PredictionMethod::linear) {
    inputs.emplace_back("linear", file_provenance(checkpoint_folder(arguments) / "linear.json"));
  }
  inputs.emplace_back("runtime", arguments.runtime == NetworkEngine::torch ? "torch" : "native");
  inputs.emplace_back("published rules", arguments.published_rules ? "yes" : "no");
  return inputs;
}

std::string file_provenance(const fs::path& path) {
  return path.filename().string() + " sha256:" + sha256_hex(read_file(path));
}

}  // namespace pw
