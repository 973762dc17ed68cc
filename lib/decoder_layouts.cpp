#include "decoder_layouts.h"

#include <array>

namespace pw {
namespace {

bool flag_or(const ModelJson& model, std::string_view key, bool otherwise) {
  const Json* value = find_set(model.decoder, key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  throw DataError(JsonFields(model.decoder, model.decoder_where).where(key) + " is " +
                  shown(*value) + ", expected true or false");
}

double number_or(const ModelJson& model, std::string_view key, double otherwise) {
  const Json* value = find_set(model.decoder, key);
  if (value == nullptr) return otherwise;
  if (value->is_number()) return value->get<double>();
  throw DataError(JsonFields(model.decoder, model.decoder_where).where(key) + " is " +
                  shown(*value) + ", expected a number");
}

std::int64_t positions_of(const ModelJson& model, std::string_view key) {
  return integer_at_least(JsonFields(model.decoder, model.decoder_where), key, 1);
}

[[noreturn]] void refuse(const ModelJson& model, std::string_view key, const std::string& why) {
  throw DataError(JsonFields(model.decoder, model.decoder_where).where(key) + " " + why + " (" +
                  model.described() + ")");
}

void set_biases(Decoder& decoder, bool attention, bool mlp) {
  for (LayerGroup& group : decoder.layers) {
    group.attention.qkv_bias = group.attention.output_bias = attention;
    group.mlp.bias = mlp;
  }
}

void set_block(Decoder& decoder, bool parallel, std::int64_t norms) {
  for (LayerGroup& group : decoder.layers) {
    group.mlp.gated = false;
    group.parallel = parallel;
    group.norms = norms;
  }
}

// The share of each head that is rotated, from the number of its dimensions.
double rotated(const Decoder& decoder, double dimensions) {
  return dimensions / static_cast<double>(decoder.layers.front().attention.head_dim);
}

void finish_gpt2(const ModelJson& model, Decoder& decoder) {
  set_block(decoder, false, 2);
  set_biases(decoder, true, true);
  decoder.norm = NormKind::layer;
  decoder.positions = Positions::learned;
  decoder.learned_positions = positions_of(model, "n_positions");
}

void finish_gpt_neox(const ModelJson& model, Decoder& decoder) {
  set_block(decoder, flag_or(model, "use_parallel_residual", true), 2);
  set_biases(decoder, flag_or(model, "attention_bias", true), true);
  decoder.norm = NormKind::layer;
  decoder.rotary_fraction =
      number_or(model, "partial_rotary_factor", number_or(model, "rotary_pct", 0.25));
}

void finish_gptj(const ModelJson& model, Decoder& decoder) {
  set_block(decoder, true, 1);
  set_biases(decoder, false, true);
  decoder.norm = NormKind::layer;
  decoder.lm_head_bias = true;
  decoder.rotary_fraction = rotated(decoder, number_or(model, "rotary_dim", 64));
}

void finish_bloom(const ModelJson&, Decoder& decoder) {
  set_block(decoder, false, 2);
  set_biases(decoder, true, true);
  decoder.norm = NormKind::layer;
  decoder.embedding_norm = true;
  decoder.positions = Positions::alibi;
}

void finish_opt(const ModelJson& model, Decoder& decoder) {
  constexpr std::int64_t kOffset = 2;  // rows before the first position
  const Json* width = find_set(model.decoder, "word_embed_proj_dim");
  if (width != nullptr && *width != decoder.hidden_size) {
    refuse(model, "word_embed_proj_dim",
           "is " + shown(*width) + " and hidden_size " + std::to_string(decoder.hidden_size) +
               ": embeddings of another width than the layers are not supported");
  }
  set_block(decoder, false, 2);
  const bool bias = flag_or(model, "enable_bias", true);
  set_biases(decoder, bias, bias);
  decoder.norm = NormKind::layer;
  decoder.final_norm = flag_or(model, "do_layer_norm_before", true) &&
                       !flag_or(model, "_remove_final_layer_norm", false);
  decoder.positions = Positions::learned;
  decoder.learned_positions = positions_of(model, "max_position_embeddings") + kOffset;
}

bool is_new_falcon(const ModelJson& model) {
  return flag_or(model, "new_decoder_architecture", false);
}

void finish_falcon(const ModelJson& model, Decoder& decoder) {
  const bool parallel = is_new_falcon(model) || flag_or(model, "parallel_attn", true);
  std::int64_t norms = parallel ? 1 : 2;
  if (is_new_falcon(model)) {
    norms = static_cast<std::int64_t>(number_or(model, "num_ln_in_parallel_attn", 2));
  }
  set_block(decoder, parallel, norms);
  const bool bias = flag_or(model, "bias", false);
  set_biases(decoder, bias, bias);
  decoder.norm = NormKind::layer;
  if (flag_or(model, "alibi", false)) decoder.positions = Positions::alibi;
}

// num_kv_heads counts in the newer architecture alone; the older has one or all.
std::optional<std::int64_t> falcon_kv_heads(const ModelJson& model) {
  if (is_new_falcon(model)) return std::nullopt;
  if (flag_or(model, "multi_query", true)) return 1;
  for (const char* key : {"num_attention_heads", "n_head"}) {
    if (find_set(model.decoder, key) != nullptr) return positions_of(model, key);
  }
  return std::nullopt;
}

void finish_phi(const ModelJson& model, Decoder& decoder) {
  if (flag_or(model, "qk_layernorm", false)) {
    refuse(model, "qk_layernorm", "is true: layer norms of queries and keys are not supported");
  }
  set_block(decoder, true, 1);
  set_biases(decoder, true, true);
  decoder.norm = NormKind::layer;
  decoder.lm_head_bias = true;
  decoder.rotary_fraction = number_or(model, "partial_rotary_factor", 0.5);
}

constexpr bool kWide = true, kTied = true;
constexpr std::array<DecoderLayout, 7> kLayouts = {{
    {"GPT2LMHeadModel", "gpt2", kWide, kTied, finish_gpt2},
    {"GPTNeoXForCausalLM", "gpt_neox", false, !kTied, finish_gpt_neox},
    {"GPTJForCausalLM", "gptj", kWide, !kTied, finish_gptj},
    {"BloomForCausalLM", "bloom", kWide, kTied, finish_bloom},
    {"OPTForCausalLM", "opt", false, kTied, finish_opt},
    {"FalconForCausalLM", "falcon", kWide, kTied, finish_falcon, falcon_kv_heads},
    {"PhiForCausalLM", "phi", false, !kTied, finish_phi},
}};

}  // namespace

const DecoderLayout* find_layout(const ModelJson& model) {
  const std::string name = model.architecture();
  const std::string type = string_or_empty(model.find("model_type"));
  for (const DecoderLayout& layout : kLayouts) {
    if (name == layout.architecture || (name.empty() && type == layout.model_type)) return &layout;
  }
  return nullptr;
}

void finish_llama_like(const ModelJson& model, Decoder& decoder) {
  const std::string type = string_or_empty(model.find("model_type"));
  const bool qwen2 = model.architecture() == "Qwen2ForCausalLM" || type == "qwen2";
  const bool attention_bias = flag_or(model, "attention_bias", false);
  for (LayerGroup& group : decoder.layers) {
    group.attention.qkv_bias = qwen2 || attention_bias;
    group.attention.output_bias = attention_bias && !qwen2;
    group.mlp.bias = flag_or(model, "mlp_bias", false);
  }
}

}  // namespace pw
