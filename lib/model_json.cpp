#include "model_json.h"

#include <array>

namespace pw {
namespace {

// Where multimodal models keep their decoder: most of them, InternVL, DeepSeek-VL, Qwen-Omni.
constexpr std::array<std::string_view, 5> kDecoderKeys{
    "text_config", "llm_config", "language_config", "language_model_config", "thinker_config"};
// What stands beside the fields of a decoder that has no record of its own, as in Qwen2-VL.
constexpr std::array<std::string_view, 4> kTowerKeys{"vision_config", "audio_config",
                                                     "vision_tower", "mm_vision_tower"};

}  // namespace

const Json* ModelJson::find(std::string_view key) const {
  if (const Json* value = find_set(decoder, key)) return value;
  return find_set(root, key);
}

std::string ModelJson::architecture() const {
  const Json* names = find("architectures");
  if (names == nullptr) return "";
  if (!names->is_array() || (!names->empty() && !names->front().is_string())) {
    throw DataError(file + ": architectures is " + shown(*names) + ", expected a list of names");
  }
  return names->empty() ? "" : names->front().get<std::string>();
}

std::string ModelJson::described() const {
  const std::string name = architecture();
  return name.empty() ? "a model without architectures" : "architecture " + name;
}

bool ModelJson::multimodal() const {
  if (&root != &decoder) return true;
  for (const std::string_view key : kTowerKeys) {
    if (const Json* tower = find_set(root, key)) return is_set(*tower);
  }
  return false;
}

ModelJson model_json(const Json& root, const std::string& file) {
  const JsonFields fields(root, file);
  if (fields.has("text_config")) fields.object("text_config");  // throws when it is no object
  const Json* decoder = &root;
  std::string where = file;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const std::string_view key : kDecoderKeys) {
      const Json* inner = find_set(*decoder, key);
      if (inner == nullptr || !inner->is_object()) continue;
      where = JsonFields(*decoder, where).where(key);
      decoder = inner;
      deeper = true;
      break;
    }
  }
  return {file, root, *decoder, where};
}

const Json* find_set(const Json& object, std::string_view key) {
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool is_set(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

std::string string_or_empty(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return value.dump();
}

}  // namespace pw
