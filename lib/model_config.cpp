#include "pw/model_config.h"

#include <cctype>
#include <system_error>

#include "comma_list.h"
#include "decoder_layouts.h"
#include "model_context.h"
#include "model_dimensions.h"
#include "model_json.h"
#include "model_support.h"
#include "model_weights.h"
#include "pw/data_paths.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// The name in results.
std::string model_name(const ModelJson& model) {
  const Json* path = model.find("_name_or_path");
  if (path != nullptr && path->is_string() && !path->get_ref<const std::string&>().empty()) {
    return path->get<std::string>();
  }
  const std::string name = model.architecture();
  return name.empty() ? "unknown" : name;
}

bool tied_embeddings(const ModelJson& model) {
  const Json* tied = model.find("tie_word_embeddings");
  if (tied == nullptr) {
    const DecoderLayout* layout = find_layout(model);
    return layout != nullptr && layout->tied_default;
  }
  if (tied->is_boolean()) return tied->get<bool>();
  throw DataError(model.file + ": tie_word_embeddings is " + tied->dump() +
                  ", expected true or false");
}

// The layers with a window become a group of their own.
void split_off_window(const ModelJson& model, const SlidingWindow& window, Decoder& decoder) {
  if (window.layers == layer_count(decoder)) {
    for (LayerGroup& group : decoder.layers) group.attention.window = window.tokens;
    return;
  }
  if (decoder.layers.size() != 1) {
    throw DataError(model.decoder_where + ": sliding_window is in some layers, which differ in " +
                    "KV heads too (" + model.described() + "): such a mix is not supported");
  }
  LayerGroup windowed = decoder.layers.front();
  windowed.count = window.layers;
  windowed.attention.window = window.tokens;
  decoder.layers.front().count -= window.layers;
  decoder.layers.push_back(windowed);
}

// Repositories call all configs config.json: such a file is named by its folder.
std::string name_of(const fs::path& path) {
  if (path.filename() == "config.json") {
    const std::string folder = fs::absolute(path).lexically_normal().parent_path().filename();
    if (!folder.empty()) return folder;
  }
  return path.stem().string();
}

std::string known_stems(const fs::path& folder) {
  std::vector<std::string> stems;
  for (const fs::path& path : json_files(folder)) stems.push_back(path.stem().string());
  return comma_list(stems);
}

}  // namespace

bool has_qk_norm(std::string_view architecture) {
  std::string name;
  for (const char c : architecture) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const char* family : {"qwen3", "gemma3", "olmo2"}) {
    if (name.find(family) != std::string::npos) return true;
  }
  return false;
}

ModelConfig read_model_config(const fs::path& path) {
  const Json root = read_json(path);
  const ModelJson model = model_json(root, path.string());
  refuse_unsupported_model(model);
  const WeightFormat weights = weight_format(model);

  ModelConfig config;
  config.stem = name_of(path);
  config.architecture = model_name(model);
  config.tied_embeddings = tied_embeddings(model);
  config.fp8 = weights.fp8;
  config.facts = model_facts(model);
  config.facts.add(weights.facts);
  read_dimensions(model, config);
  config.max_context = max_context(model);
  for (LayerGroup& group : config.layers) {
    group.attention.qk_norm = has_qk_norm(config.architecture);
  }
  if (const auto window = sliding_window(model, layer_count(config))) {
    split_off_window(model, *window, config);
  }
  return config;
}

fs::path find_model_config(const std::string& name, const fs::path& config_folder) {
  std::error_code error;
  fs::path given(name);
  if (given.extension() == ".json" || given.has_parent_path()) {
    if (fs::is_regular_file(given, error)) return given;
    throw DataError("the model config '" + name + "' is no file: give a config.json or one of " +
                    known_stems(config_folder));
  }
  fs::path shipped = config_folder / (name + ".json");
  if (fs::is_regular_file(shipped, error)) return shipped;
  throw DataError("unknown model '" + name + "'; the folder " + config_folder.string() + " knows " +
                  known_stems(config_folder) + ": give one of these or a config.json");
}

}  // namespace pw
