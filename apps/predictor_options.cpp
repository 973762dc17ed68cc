#include "predictor_options.h"

#include <algorithm>
#include <map>

#include "io/files.h"
#include "io/sha256.h"
#include "pw/checkpoint.h"
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

// The names of ModelSet that answer for a family.
std::vector<std::string> names_of(const std::string& family) {
  if (family == AttentionConfig::kName) {
    return {family, family + "_ragged", family + "_paged"};
  }
  return {family};
}

std::string name_of(const ModelRecord& record) {
  return record.operator_name +
         (record.attention_layout.empty() ? "" : "_" + record.attention_layout);
}

LoadedModel load_model(const std::string& name, const fs::path& path) {
  LoadedModel loaded{load_checkpoint(path), path.filename().string(), sha256_hex(read_file(path))};
  const std::string trained_for = name_of(loaded.model->record());
  if (trained_for != name) {
    throw DataError(path.string() + " is a model of '" + trained_for + "', expected '" + name +
                    "'");
  }
  return loaded;
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
  ModelSet models;
  if (arguments.method != PredictionMethod::learned) {
    return models;
  }
  const std::map<std::string, fs::path> given = given_checkpoints(arguments);
  for (const std::string& family : families) {
    bool found = false;
    for (const std::string& name : names_of(family)) {
      const auto file = given.find(name);
      if (file == given.end() && given.count(family) != 0) {
        continue;  // the user's model of the whole family wins over the folder's special ones
      }
      const fs::path path =
          file != given.end()
              ? file->second
              : find_data_folder("checkpoints", arguments.checkpoint_folder) / (name + ".pt");
      if (file != given.end() || fs::exists(path)) {
        models[name] = load_model(name, path);
        found = true;
      }
    }
    if (!found && !optional && !has_analytic_form(family)) {
      throw DataError("no model for operator '" + family + "' in " +
                      find_data_folder("checkpoints", arguments.checkpoint_folder).string() +
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
    options.linear_models = read_linear_models(
        find_data_folder("checkpoints", arguments.checkpoint_folder) / "linear.json");
  }
  if (arguments.gemm_table) {
    options.gemm_tiles = TileTable::read(*arguments.gemm_table);
  }
  options.tile_lookup = arguments.published_rules ? TileLookup::published : TileLookup::nearest_log;
  return options;
}

LoadedCollectives load_collectives(const PredictorArguments& arguments) {
  const fs::path path =
      arguments.collectives
          ? *arguments.collectives
          : find_data_folder("checkpoints", arguments.checkpoint_folder) / "collectives.json";
  const WorkerRules rules =
      arguments.published_rules ? WorkerRules::published : WorkerRules::scaled;
  return {CollectiveCatalog::read(path, rules), file_provenance(path)};
}

std::string file_provenance(const fs::path& path) {
  return path.filename().string() + " sha256:" + sha256_hex(read_file(path));
}

}  // namespace pw
