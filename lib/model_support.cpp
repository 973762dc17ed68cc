#include "model_support.h"

#include <algorithm>
#include <array>

#include "comma_list.h"

namespace pw {
namespace {

// One reason to refuse a model: any of `keys`, or any key that begins with one of `prefixes`, is
// set in the decoder's record. Set means neither null, false, 0 nor empty.
struct Refusal {
  std::string_view what;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> prefixes;
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> list = {
      {"a mixture of experts",
       {"num_experts", "num_local_experts", "n_routed_experts", "num_moe_experts",
        "first_k_dense_replace", "mlp_only_layers"},
       {"moe_"}},
      {"latent attention (MLA)", {"kv_lora_rank", "q_lora_rank"}, {}},
      {"a state-space, linear-attention or hybrid model",
       {"layers_block_type", "block_types", "full_attention_interval", "hybrid_override_pattern",
        "attn_type_list", "attn_layer_period", "lru_width", "state_size"},
       {"mamba", "ssm_", "rwkv", "linear_attn", "linear_attention", "linear_conv", "linear_num_"}},
      {"a model whose layers differ from each other",
       {"block_configs", "num_kv_shared_layers"},
       {}},
  };
  return list;
}

// MLPs of two projections. The first name is the architecture, the second its model_type.
constexpr std::array<std::array<std::string_view, 2>, 15> kUngated = {{
    {"GPT2LMHeadModel", "gpt2"},
    {"GPTBigCodeForCausalLM", "gpt_bigcode"},
    {"GPTNeoForCausalLM", "gpt_neo"},
    {"GPTNeoXForCausalLM", "gpt_neox"},
    {"GPTJForCausalLM", "gptj"},
    {"CodeGenForCausalLM", "codegen"},
    {"OPTForCausalLM", "opt"},
    {"PhiForCausalLM", "phi"},
    {"FalconForCausalLM", "falcon"},
    {"RWForCausalLM", "RefinedWeb"},
    {"Starcoder2ForCausalLM", "starcoder2"},
    {"BloomForCausalLM", "bloom"},
    {"MPTForCausalLM", "mpt"},
    {"PersimmonForCausalLM", "persimmon"},
    {"NemotronForCausalLM", "nemotron"},
}};

// Dense decoders with grouped-query attention and a gated SiLU MLP.
constexpr std::array<std::string_view, 5> kKnownArchitectures = {
    "LlamaForCausalLM", "MistralForCausalLM", "Phi3ForCausalLM", "Qwen2ForCausalLM",
    "Qwen3ForCausalLM"};

constexpr std::string_view kSupported =
    "supported are dense decoder-only transformers with a gated MLP, such as Llama, Mistral, Qwen2 "
    "and Qwen3";

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

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string string_or_empty(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

[[noreturn]] void refuse(const ModelJson& model, std::string_view key, const std::string& why) {
  throw DataError(JsonFields(model.decoder, model.decoder_where).where(key) + " " + why + " (" +
                  model.described() + "); " + std::string(kSupported));
}

// A scalar as it stands in the file, a container by its kind: messages stay one line.
std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return value.dump();
}

void refuse_by_fields(const ModelJson& model) {
  for (const Refusal& refusal : refusals()) {
    for (const std::string_view key : refusal.keys) {
      const Json* value = find_set(model.decoder, key);
      if (value != nullptr && is_set(*value)) {
        refuse(model, key, "is " + shown(*value) + ": " + std::string(refusal.what));
      }
    }
    for (const auto& [key, value] : model.decoder.items()) {
      for (const std::string_view prefix : refusal.prefixes) {
        if (starts_with(key, prefix) && is_set(value)) {
          refuse(model, key, "is " + shown(value) + ": " + std::string(refusal.what));
        }
      }
    }
  }
}

void refuse_by_architecture(const ModelJson& model) {
  const Json* encoder_decoder = model.find("is_encoder_decoder");
  if (encoder_decoder != nullptr && is_set(*encoder_decoder)) {
    refuse(model, "is_encoder_decoder", "is true: an encoder-decoder has cross attention");
  }
  const std::string name = model.architecture();
  const std::string type = string_or_empty(model.find("model_type"));
  for (const auto& [architecture, model_type] : kUngated) {
    if (name == architecture)
      refuse(model, "architectures", "is " + name + ": its MLP has no gate");
    if (name.empty() && type == model_type) {
      refuse(model, "model_type", "is " + type + ": its MLP has no gate");
    }
  }
  const bool multimodal = &model.root != &model.decoder;
  if (!name.empty() && !multimodal && !ends_with(name, "ForCausalLM")) {
    refuse(model, "architectures", "is " + name + ": no ...ForCausalLM decoder");
  }
}

// The published keys of a window that is really shorter than the context.
bool sliding_window_in_use(const ModelJson& model) {
  const Json* window = find_set(model.decoder, "sliding_window");
  if (window == nullptr || !is_set(*window)) return false;
  const Json* use = find_set(model.decoder, "use_sliding_window");
  if (use != nullptr && !is_set(*use)) return false;
  const Json* longest = find_set(model.decoder, "max_position_embeddings");
  return longest == nullptr || !longest->is_number() || !window->is_number() ||
         window->get<double>() < longest->get<double>();
}

void refuse_mixed_layers(const ModelJson& model) {
  if (const Json* pattern = find_set(model.decoder, "sliding_window_pattern")) {
    if (is_set(*pattern) && sliding_window_in_use(model)) {
      refuse(model, "sliding_window_pattern",
             "is set: layers with and without a sliding window are mixed");
    }
  }
  const Json* types = find_set(model.decoder, "layer_types");
  if (types == nullptr) return;
  if (!types->is_array()) refuse(model, "layer_types", "is no list of layer kinds");
  bool full = false;
  bool sliding = false;
  for (const Json& type : *types) {
    full = full || type == "full_attention";
    sliding = sliding || type == "sliding_attention";
    if (type != "full_attention" && type != "sliding_attention") {
      refuse(model, "layer_types", "holds " + shown(type) + ": such layers cannot be summed");
    }
  }
  if (full && sliding && sliding_window_in_use(model)) {
    refuse(model, "layer_types", "mixes full_attention and sliding_attention layers");
  }
}

void refuse_quantised_weights(const ModelJson& model) {
  for (const std::string_view key : {"quantization_config", "compression_config"}) {
    const Json* value = model.find(key);
    if (value == nullptr || !is_set(*value)) continue;
    std::string method;
    if (value->is_object()) method = string_or_empty(find_set(*value, "quant_method"));
    throw DataError(model.file + ": " + std::string(key) +
                    " is given: " + (method.empty() ? "quantised" : method) +
                    " weights are not supported (" + model.described() +
                    "); supported are bfloat16 and float16 weights: use the unquantised config");
  }
}

std::string dtype_text(const ModelJson& model, std::string_view key) {
  const Json* value = model.find(key);
  if (value == nullptr) return "";
  std::string text = value->is_string() ? value->get<std::string>() : value->dump();
  if (starts_with(text, "torch.")) text.erase(0, std::string_view("torch.").size());
  return text;
}

void note_dtype(const ModelJson& model, std::vector<std::string>& notes) {
  const std::string current = dtype_text(model, "dtype");
  const std::string older = dtype_text(model, "torch_dtype");
  const std::string used = current.empty() ? older : current;
  if (used.empty()) {
    notes.push_back("no dtype or torch_dtype given: bfloat16 weights assumed");
    return;
  }
  if (used != "bfloat16" && used != "float16") {
    throw DataError(model.file + ": " + (current.empty() ? "torch_dtype" : "dtype") + " is '" +
                    used + "' (" + model.described() +
                    "); supported are bfloat16 and float16 weights");
  }
  if (!current.empty() && !older.empty() && current != older) {
    notes.push_back("dtype " + current + " and torch_dtype " + older + " differ: dtype is used");
  }
}

void note_architecture(const ModelJson& model, std::vector<std::string>& notes) {
  const std::string name = model.architecture();
  if (name.empty()) {
    notes.push_back("no architectures given: summed as a dense decoder with gated MLP");
    return;
  }
  std::vector<std::string_view> known;
  for (const std::string_view each : kKnownArchitectures) {
    if (each == name) return;
    known.push_back(each.substr(0, each.size() - std::string_view("ForCausalLM").size()));
  }
  notes.push_back("architecture " + name + " is not one of " + comma_list(known) +
                  ": summed as a dense decoder with gated MLP");
}

}  // namespace

const Json* ModelJson::find(std::string_view key) const {
  if (const Json* value = find_set(decoder, key)) return value;
  return find_set(root, key);
}

std::string ModelJson::architecture() const {
  const Json* names = find("architectures");
  if (names == nullptr) return "";
  if (!names->is_array() || (!names->empty() && !names->front().is_string())) {
    throw DataError(file + ": architectures is " + names->dump() + ", expected a list of names");
  }
  return names->empty() ? "" : names->front().get<std::string>();
}

std::string ModelJson::described() const {
  const std::string name = architecture();
  return name.empty() ? "a model without architectures" : "architecture " + name;
}

void refuse_unsupported_model(const ModelJson& model) {
  refuse_by_fields(model);
  refuse_by_architecture(model);
  refuse_mixed_layers(model);
  refuse_quantised_weights(model);
}

std::vector<std::string> model_notes(const ModelJson& model) {
  std::vector<std::string> notes;
  if (&model.root != &model.decoder) {
    notes.push_back("only text_config is summed, no vision or audio tower");
  }
  note_architecture(model, notes);
  note_dtype(model, notes);
  const std::string activation = string_or_empty(find_set(model.decoder, "hidden_act"));
  if (!activation.empty() && activation != "silu" && activation != "swish") {
    notes.push_back("hidden_act " + activation + " is timed as silu");
  }
  if (sliding_window_in_use(model)) {
    notes.push_back("sliding_window " + model.decoder.at("sliding_window").dump() +
                    " is not modelled: attention is computed over the full context, an "
                    "over-estimate for contexts beyond the window");
  }
  if (model.find("tie_word_embeddings") == nullptr) {
    notes.push_back("no tie_word_embeddings given: separate embedding and lm_head weights assumed");
  }
  return notes;
}

}  // namespace pw
