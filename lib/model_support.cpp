#include "model_support.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "comma_list.h"
#include "decoder_layouts.h"

namespace pw {
namespace {

// One reason to refuse a model: any of `keys`, or any key that begins with one of `prefixes`, is
// set in the decoder's record; or its architecture or model_type has one of `names` in it (lower
// case, letters and digits alone).
struct Refusal {
  std::string_view what;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> prefixes;
  std::vector<std::string_view> names;
};

constexpr std::array<std::string_view, 5> kExpertCounts{
    "num_experts", "num_local_experts", "n_routed_experts", "num_moe_experts", "moe_num_experts"};
constexpr std::array<std::string_view, 5> kExpertsPerToken{
    "num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_topk", "moe_k"};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> list = {
      {"a mixture of experts",
       {kExpertCounts[0], kExpertCounts[1], kExpertCounts[2], kExpertCounts[3],
        "first_k_dense_replace", "mlp_only_layers", "n_shared_experts", "num_shared_experts",
        "interleave_moe_layer_step", "enable_moe_block", "use_moe"},
       {"moe"},
       {"moe", "mixtral", "dbrx", "grok1", "snowflakearctic"}},
      {"latent attention (MLA)",
       {"kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim"},
       {},
       {"deepseekv2", "deepseekv3", "minicpm3"}},
      {"a state-space, linear-attention or hybrid model",
       {"layers_block_type", "block_types", "full_attention_interval", "hybrid_override_pattern",
        "hybrid_layer_pattern", "hybrid_layer_ids", "attn_type_list", "attn_layer_period",
        "attn_layer_indices", "full_attn_idxs", "lru_width", "state_size", "conv_L_cache",
        "layer_group_size", "time_step_rank", "use_mem_eff_path"},
       {"mamba", "ssm_", "rwkv", "linear_attn", "linear_attention", "linear_conv", "linear_num_"},
       {"mamba", "rwkv", "jamba", "bamba", "zamba", "recurrentgemma", "griffin", "retnet", "xlstm",
        "falconh1", "nemotronh", "hybrid", "lfm2", "qwen3next", "kimilinear", "minimaxtext01",
        "minimaxm1"}},
      {"sparse attention",
       {"index_topk", "sparse_config", "attention_chunk_size"},
       {"sparse_attention", "nsa_", "dsa_"},
       {}},
      {"a model whose layers differ from each other",
       {"block_configs", "num_kv_shared_layers", "ffn_multipliers", "use_cla", "laurel_rank"},
       {"altup_"},
       {}},
  };
  return list;
}

// MLPs of two projections that no DecoderLayout describes. The first name is the architecture, the
// second its model_type.
constexpr std::array<std::array<std::string_view, 2>, 14> kUngated = {{
    {"GPTBigCodeForCausalLM", "gpt_bigcode"},
    {"GPTNeoForCausalLM", "gpt_neo"},
    {"CodeGenForCausalLM", "codegen"},
    {"RWForCausalLM", "RefinedWeb"},
    {"Starcoder2ForCausalLM", "starcoder2"},
    {"MPTForCausalLM", "mpt"},
    {"PersimmonForCausalLM", "persimmon"},
    {"NemotronForCausalLM", "nemotron"},
    {"MptForCausalLM", "mpt"},
    {"ArceeForCausalLM", "arcee"},
    {"ApertusForCausalLM", "apertus"},
    {"XGLMForCausalLM", "xglm"},
    {"BioGptForCausalLM", "biogpt"},
    {"JAISLMHeadModel", "jais"},
}};

// Dense decoders with grouped-query attention and a gated SiLU MLP.
constexpr std::array<std::string_view, 5> kKnownArchitectures = {
    "LlamaForCausalLM", "MistralForCausalLM", "Phi3ForCausalLM", "Qwen2ForCausalLM",
    "Qwen3ForCausalLM"};

constexpr std::string_view kSupported =
    "supported are dense decoder-only transformers with a gated MLP, such as Llama, Mistral, Qwen2 "
    "and Qwen3, and GPT-2, GPT-NeoX, GPT-J, BLOOM, OPT, Falcon, Phi";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

[[noreturn]] void refuse(const ModelJson& model, std::string_view key, const std::string& why) {
  throw DataError(JsonFields(model.decoder, model.decoder_where).where(key) + " " + why + " (" +
                  model.described() + "); " + std::string(kSupported));
}

std::string letters_and_digits(std::string_view text) {
  std::string form;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      form += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return form;
}

// "num_experts is 64": the first field that gives the reason, or an empty text.
std::string reason_field(const ModelJson& model, const Refusal& refusal) {
  for (const std::string_view key : refusal.keys) {
    const Json* value = find_set(model.decoder, key);
    if (value != nullptr && is_set(*value)) return std::string(key) + " is " + shown(*value);
  }
  for (const auto& [key, value] : model.decoder.items()) {
    for (const std::string_view prefix : refusal.prefixes) {
      if (starts_with(key, prefix) && is_set(value)) return key + " is " + shown(value);
    }
  }
  const std::string type = string_or_empty(model.find("model_type"));
  for (const std::string_view name : refusal.names) {
    for (const auto& [field, text] :
         {std::pair{"architectures", model.architecture()}, std::pair{"model_type", type}}) {
      if (letters_and_digits(text).find(name) != std::string::npos) {
        return std::string(field) + " is " + text;
      }
    }
  }
  return "";
}

std::string first_number(const Json& object, const std::array<std::string_view, 5>& keys) {
  for (const std::string_view key : keys) {
    const Json* value = find_set(object, key);
    if (value != nullptr && value->is_number() && is_set(*value)) return value->dump();
  }
  return "";
}

// ", 64 experts, 6 of them per token", as far as the file tells; DBRX tells it in ffn_config.
std::string described_experts(const Json& record) {
  const Json* inner = find_set(record, "ffn_config");
  const Json& decoder = inner != nullptr && inner->is_object() ? *inner : record;
  const std::string experts = first_number(decoder, kExpertCounts);
  const std::string per_token = first_number(decoder, kExpertsPerToken);
  std::string text = experts.empty() ? "" : ", " + experts + " experts";
  if (!per_token.empty()) text += ", " + per_token + " of them per token";
  return text;
}

void refuse_by_fields(const ModelJson& model) {
  std::string reasons;
  const auto add = [&](const std::string& where, const Refusal& refusal) {
    reasons += (reasons.empty() ? "" : "; ") + where + ": " + std::string(refusal.what);
  };
  for (const Refusal& refusal : refusals()) {
    const std::string field = reason_field(model, refusal);
    if (!field.empty()) {
      add(field, refusal);
      if (&refusal == &refusals().front()) reasons += described_experts(model.decoder);
    }
  }
  if (reasons.empty()) return;
  throw DataError(JsonFields(model.decoder, model.decoder_where).where(reasons) + " (" +
                  model.described() + "); " + std::string(kSupported));
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
  if (!name.empty() && find_layout(model) == nullptr && !model.multimodal() &&
      !ends_with(name, "ForCausalLM")) {
    refuse(model, "architectures", "is " + name + ": no ...ForCausalLM decoder");
  }
}

// Windows are told by sliding_window (model_context.h); other kinds of layers cannot be summed.
void refuse_other_layers(const ModelJson& model) {
  const Json* types = find_set(model.decoder, "layer_types");
  if (types == nullptr) return;
  if (!types->is_array()) refuse(model, "layer_types", "is no list of layer kinds");
  for (const Json& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      refuse(model, "layer_types", "holds " + shown(type) + ": such layers cannot be summed");
    }
  }
}

// Values of another width than keys make another attention.
void refuse_other_value_width(const ModelJson& model) {
  const Json* value = find_set(model.decoder, "v_head_dim");
  const Json* key = find_set(model.decoder, "head_dim");
  if (value != nullptr && is_set(*value) && key != nullptr && *value != *key) {
    refuse(model, "v_head_dim",
           "is " + shown(*value) + " and head_dim " + shown(*key) + ": keys and values differ");
  }
}

void tell_architecture(const ModelJson& model, Facts& facts) {
  const std::string name = model.architecture();
  if (name.empty()) {
    facts.add({FactKind::architecture_assumed,
               "no architectures given: summed as a dense decoder with gated MLP",
               {}});
    return;
  }
  std::vector<std::string_view> known;
  for (const std::string_view each : kKnownArchitectures) {
    if (each == name) return;
    known.push_back(each.substr(0, each.size() - std::string_view("ForCausalLM").size()));
  }
  facts.add({FactKind::architecture_assumed,
             "architecture " + name + " is not one of " + comma_list(known) +
                 ": summed as a dense decoder with gated MLP",
             {{"architecture", name}}});
}

}  // namespace

void refuse_unsupported_model(const ModelJson& model) {
  refuse_by_fields(model);
  refuse_by_architecture(model);
  refuse_other_layers(model);
  refuse_other_value_width(model);
}

Facts model_facts(const ModelJson& model) {
  Facts facts;
  if (find_layout(model) != nullptr) return facts;
  if (model.multimodal()) {
    const std::size_t inner = model.file.size() + 2;  // after "config.json: "
    const std::string part = model.decoder_where.size() > inner ? model.decoder_where.substr(inner)
                                                                : "the language model";
    facts.add({FactKind::language_model_only,
               "only " + part + " is summed, no vision or audio tower",
               {}});
  }
  tell_architecture(model, facts);
  const std::string activation = string_or_empty(find_set(model.decoder, "hidden_act"));
  if (!activation.empty() && activation != "silu" && activation != "swish") {
    facts.add({FactKind::activation_assumed,
               "hidden_act " + activation + " is timed as silu",
               {{"activation", activation}}});
  }
  if (model.find("tie_word_embeddings") == nullptr) {
    facts.add({FactKind::untied_embeddings_assumed,
               "no tie_word_embeddings given: separate embedding and lm_head weights assumed",
               {}});
  }
  return facts;
}

}  // namespace pw
