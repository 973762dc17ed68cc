#include "predictor_options.h"

#include <algorithm>
#include <map>

#include "io/files.h"
#include "io/sha256.h"
#include "pw/data_paths.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// --checkpoint gemm=FILE, by the name of ModelSet.
std::map<std::string, fs::path> given_checkpoints(const PredictorArguments& arguments) {
  std::map<std::string, fs::path> files;
  for (const std::string& text : arguments.checkpoints) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw DataError("--checkpoint " + text + ", expected OPERATOR=FILE such as gemm=my.pt");
    }
    const std::string name = text.substr(0, equals);
    if (name != "attn_ragged" && name != "attn_paged") {
      operator_family(name);  // throws for an unknown one
    }
    if (!files.emplace(name, text.substr(equals + 1)).second) {
      throw DataError("--checkpoint names '" + name + "' twice, expected one file each");
    }
  }
  return files;
}

fs::path checkpoint_folder(const PredictorArguments& arguments) {
  return find_data_folder("checkpoints", arguments.checkpoint_folder);
}

}  // namespace

void add_predictor_options(CLI::App& app, PredictorArguments& arguments) {
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
  app.add_option_function<std::string>(
         "--runtime",
         [&arguments](const std::string& name) { arguments.runtime = parse_network_engine(name); },
         "What evaluates the networks: auto (default), native, or torch, the slower reference; "
         "auto "
         "loads LibTorch only for networks that pw-train does not write")
      ->check(CLI::IsMember({"auto", "native", "torch"}))
      ->option_text("auto|native|torch")
      ->group("Models and data");
  const std::map<std::string, PredictionMethod> methods{{"learned", PredictionMethod::learned},
                                                        {"roofline", PredictionMethod::roofline},
                                                        {"linear", PredictionMethod::linear}};
  app.add_option_function<std::string>(
         "--method",
         [&arguments, methods](const std::string& name) { arguments.method = methods.at(name); },
         "learned (default); baselines: roofline (nominal rates), linear (linear.json)")
      ->check(CLI::IsMember(methods))
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

ModelSet load_models(const PredictorArguments& arguments, const std::vector<std::string>& families,
                     bool optional) {
  if (arguments.method != PredictionMethod::learned) {
    return {};
  }
  const ModelFiles files{checkpoint_folder(arguments), given_checkpoints(arguments)};
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
    options.gemm_tiles = TileTable::read(*arguments.gemm_table);
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

std::string file_provenance(const fs::path& path) {
  return path.filename().string() + " sha256:" + sha256_hex(read_file(path));
}

}  // namespace pw
