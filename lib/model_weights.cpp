#include "model_weights.h"

#include <algorithm>
#include <cctype>

namespace pw {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string dtype_text(const ModelJson& model, std::string_view key) {
  const Json* value = model.find(key);
  if (value == nullptr) return "";
  std::string text = value->is_string() ? value->get<std::string>() : shown(*value);
  if (starts_with(text, "torch.")) text.erase(0, std::string_view("torch.").size());
  if (text == "bf16") return "bfloat16";
  if (text == "fp16" || text == "half") return "float16";
  return text;
}

void read_dtype(const ModelJson& model, WeightFormat& format) {
  const std::string current = dtype_text(model, "dtype");
  const std::string older = dtype_text(model, "torch_dtype");
  const std::string used = current.empty() ? older : current;
  if (used.empty()) {
    format.facts.add({FactKind::dtype_assumed,
                      "no dtype or torch_dtype given: bfloat16 weights assumed",
                      {{"dtype", "bfloat16"}}});
    return;
  }
  if (used != "bfloat16" && used != "float16") {
    throw DataError(model.file + ": " + (current.empty() ? "torch_dtype" : "dtype") + " is '" +
                    used + "' (" + model.described() +
                    "); supported are bfloat16 and float16 weights");
  }
  if (!current.empty() && !older.empty() && current != older) {
    format.facts.add({FactKind::conflicting_keys,
                      "dtype " + current + " and torch_dtype " + older + " differ: dtype is used",
                      {{"used", "dtype"}, {"other", "torch_dtype"}}});
  }
}

// {"num_bits": 8, "type": "float"}
bool is_fp8_tensor(const Json* tensor) {
  if (tensor == nullptr || !tensor->is_object()) return false;
  const Json* bits = find_set(*tensor, "num_bits");
  return bits != nullptr && *bits == 8 && string_or_empty(find_set(*tensor, "type")) == "float";
}

// Whether every group of compressed-tensors has weights and activations in fp8.
bool has_fp8_groups(const Json& quantization) {
  const Json* groups = find_set(quantization, "config_groups");
  if (groups == nullptr || !groups->is_object() || groups->empty()) return false;
  return std::all_of(groups->begin(), groups->end(), [](const Json& group) {
    return group.is_object() && is_fp8_tensor(find_set(group, "weights")) &&
           is_fp8_tensor(find_set(group, "input_activations"));
  });
}

// Methods that multiply fp8 weights by fp8 activations.
bool is_fp8(const Json& quantization, const std::string& method) {
  if (method == "fp8" || method == "fbgemm_fp8") return true;
  if (method == "modelopt") {
    return lower_case(string_or_empty(find_set(quantization, "quant_algo"))) == "fp8";
  }
  return method == "compressed-tensors" && has_fp8_groups(quantization);
}

// The layers that stay in 16 bit, under any of the names that methods have for the list.
std::size_t excluded_blocks(const Json& quantization) {
  std::size_t count = 0;
  for (const char* key :
       {"ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules"}) {
    const Json* modules = find_set(quantization, key);
    if (modules == nullptr || !modules->is_array()) continue;
    count += static_cast<std::size_t>(
        std::count_if(modules->begin(), modules->end(), [](const Json& module) {
          return string_or_empty(&module).find("layers.") != std::string::npos;
        }));
  }
  return count;
}

void read_quantization(const ModelJson& model, std::string_view key, WeightFormat& format) {
  const Json* value = model.find(key);
  if (value == nullptr || !is_set(*value)) return;
  const std::string method =
      value->is_object() ? lower_case(string_or_empty(find_set(*value, "quant_method"))) : "";
  if (!value->is_object() || !is_fp8(*value, method)) {
    throw DataError(model.file + ": " + std::string(key) +
                    " is given: " + (method.empty() ? "quantised" : method) +
                    " weights of this kind are not supported (" + model.described() +
                    "); supported are bfloat16, float16 and fp8 weights with fp8 activations: use "
                    "such a config");
  }
  format.fp8 = true;
  format.facts.add({FactKind::fp8_weights,
                    std::string(key) + " " + method +
                        ": fp8 GEMMs in all decoder blocks, lm_head in 16 bit; kernels that "
                        "quantise activations are not counted",
                    {{"method", method}}});
  if (const std::size_t excluded = excluded_blocks(*value)) {
    format.facts.add({FactKind::fp8_modules_excepted,
                      std::string(key) + " keeps " + std::to_string(excluded) +
                          " modules of decoder blocks in 16 bit: they are timed as fp8 too",
                      {{"modules", static_cast<std::int64_t>(excluded)}}});
  }
  for (const char* cache : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
    if (find_set(*value, cache) != nullptr) {
      format.facts.add({FactKind::kv_cache_dtype_ignored,
                        std::string(cache) + " is ignored: the KV cache is taken as 16 bit",
                        {{"key", cache}}});
    }
  }
}

}  // namespace

WeightFormat weight_format(const ModelJson& model) {
  WeightFormat format;
  read_dtype(model, format);
  read_quantization(model, "quantization_config", format);
  read_quantization(model, "compression_config", format);
  return format;
}

}  // namespace pw
