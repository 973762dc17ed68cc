#include "pw/model_loader.h"

#include "checkpoint_archive.h"
#include "io/sha256.h"
#include "native/native_model.h"
#include "torch_engine.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const OperatorModel> load_network(const CheckpointFile& checkpoint,
                                                  const fs::path& path, NetworkEngine engine) {
  const std::string file = path.string();
  std::string purpose = "the engine 'torch'";
  if (checkpoint.foreign_transform) {
    if (engine == NetworkEngine::native) {
      throw DataError(file +
                      " is no checkpoint of pw-train, which the native engine expects: let "
                      "LibTorch evaluate it");
    }
    purpose = file + " is no checkpoint of pw-train: it";
  } else if (engine != NetworkEngine::torch) {
    try {
      return std::make_shared<NativeModel>(checkpoint, file);
    } catch (const UnknownNetwork& reason) {
      if (engine == NetworkEngine::native) {
        throw DataError(file + ": the native engine does not know this network, because " +
                        reason.what() + ": let LibTorch evaluate it");
      }
      purpose =
          file + ": the network is none that pw-train writes, because " + reason.what() + ". It";
    }
  }
  return torch_engine(purpose).load(checkpoint, file);
}

// The name of ModelSet that a model was made for.
std::string name_of(const ModelRecord& record) {
  return record.operator_name +
         (record.attention_layout.empty() ? "" : "_" + record.attention_layout);
}

}  // namespace

NetworkEngine parse_network_engine(std::string_view text) {
  if (text == "auto") return NetworkEngine::automatic;
  if (text == "native") return NetworkEngine::native;
  if (text == "torch") return NetworkEngine::torch;
  throw DataError("engine '" + std::string(text) + "', expected auto, native or torch");
}

LoadedModel load_model(const fs::path& path, NetworkEngine engine, const ForeignModule& foreign) {
  const CheckpointFile checkpoint = read_checkpoint_file(path, foreign);
  return {load_network(checkpoint, path, engine), path.filename().string(),
          sha256_hex(checkpoint.bytes)};
}

std::vector<std::string> model_names_of(const std::string& family) {
  if (family == AttentionConfig::kName) return {family, family + "_ragged", family + "_paged"};
  return {family};
}

ModelSet load_models(const ModelFiles& files, const std::vector<std::string>& families,
                     NetworkEngine engine) {
  ModelSet models;
  for (const std::string& family : families) {
    for (const std::string& name : model_names_of(family)) {
      const auto given = files.given.find(name);
      // A model that was given for the whole family wins over the folder's special ones.
      if (given == files.given.end() && files.given.count(family) != 0) continue;
      const fs::path path =
          given != files.given.end() ? given->second : files.folder / (name + ".pt");
      if (given == files.given.end() && !fs::exists(path)) continue;
      const bool is_given = given != files.given.end();
      LoadedModel loaded = load_model(
          path, engine, is_given ? ForeignModule{name, files.input_transform} : ForeignModule{});
      const std::string trained_for = name_of(loaded.model->record());
      if (trained_for != name) {
        throw DataError(path.string() + " is a model of '" + trained_for + "', expected '" + name +
                        "'");
      }
      models[name] = std::move(loaded);
    }
  }
  return models;
}

}  // namespace pw
