#include "pw/model_config.h"

#include <cctype>
#include <limits>
#include <system_error>

#include "comma_list.h"
#include "io/json_file.h"
#include "model_support.h"
#include "pw/data_paths.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// Larger dimensions are nonsense, and products of two of these fit in 64 bits.
constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int32_t>::max();

std::int64_t dimension(const JsonFields& fields, std::string_view key, const ModelJson& model) {
  if (const auto found = model.decoder.find(std::string(key));
      found != model.decoder.end() && found->is_array()) {
    throw DataError(fields.where(key) + " is a list, one value per layer (" + model.described() +
                    "); expected one number for all layers");
  }
  const std::int64_t value = integer_at_least(fields, key, 1);
  if (value <= kMaxDimension) return value;
  throw DataError(fields.where(key) + " is " + std::to_string(value) + ", expected at most " +
                  std::to_string(kMaxDimension));
}

std::int64_t dimension_or(const JsonFields& fields, std::string_view key, const ModelJson& model,
                          std::int64_t absent) {
  return fields.has(key) ? dimension(fields, key, model) : absent;
}

// head_dim as given, else the exact quotient.
std::int64_t head_dim(const JsonFields& fields, const ModelJson& model, const ModelConfig& config) {
  if (fields.has("head_dim")) return dimension(fields, "head_dim", model);
  if (config.hidden_size % config.num_attention_heads != 0) {
    throw DataError(fields.where("head_dim") + " is absent and hidden_size " +
                    std::to_string(config.hidden_size) + " is no multiple of num_attention_heads " +
                    std::to_string(config.num_attention_heads) + ": give head_dim");
  }
  return config.hidden_size / config.num_attention_heads;
}

void read_dimensions(const ModelJson& model, ModelConfig& config) {
  const JsonFields fields(model.decoder, model.decoder_where);
  config.hidden_size = dimension(fields, "hidden_size", model);
  config.num_attention_heads = dimension(fields, "num_attention_heads", model);
  config.num_key_value_heads =
      dimension_or(fields, "num_key_value_heads", model, config.num_attention_heads);
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    throw DataError(fields.where("num_key_value_heads") + " is " +
                    std::to_string(config.num_key_value_heads) +
                    ", expected a divisor of num_attention_heads " +
                    std::to_string(config.num_attention_heads));
  }
  config.head_dim = head_dim(fields, model, config);
  config.intermediate_size = dimension(fields, "intermediate_size", model);
  config.vocab_size = dimension(fields, "vocab_size", model);
  config.num_hidden_layers = dimension(fields, "num_hidden_layers", model);
}

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
  if (tied == nullptr) return false;
  if (tied->is_boolean()) return tied->get<bool>();
  throw DataError(model.file + ": tie_word_embeddings is " + tied->dump() +
                  ", expected true or false");
}

// Throws DataError when the file or its text_config is no object.
const Json& decoder_of(const Json& root, const std::string& file) {
  const JsonFields fields(root, file);
  return fields.has("text_config") ? fields.object("text_config") : root;
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
  const std::string file = path.string();
  const Json& decoder = decoder_of(root, file);
  const ModelJson model{file, root, decoder, &decoder == &root ? file : file + ": text_config"};
  refuse_unsupported_model(model);

  ModelConfig config;
  config.stem = path.stem().string();
  config.architecture = model_name(model);
  config.tied_embeddings = tied_embeddings(model);
  read_dimensions(model, config);
  config.notes = model_notes(model);
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
