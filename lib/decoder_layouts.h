#pragma once

#include <optional>
#include <string_view>

#include "model_json.h"
#include "pw/decoder.h"

namespace pw {

// What a family's code fixes and its config.json does not tell: MLPs without a gate, norms, biases,
// positions. Source: the families' classes in Hugging Face's transformers.
struct DecoderLayout {
  std::string_view architecture, model_type;
  bool wide_mlp = false;     // without a width in the file it is 4 x hidden_size
  bool tied_default = true;  // without tie_word_embeddings
  // Sets the rest of a decoder whose dimensions are read.
  void (*finish)(const ModelJson& model, Decoder& decoder) = nullptr;
  // KV heads, where they are told in the family's own way.
  std::optional<std::int64_t> (*kv_heads)(const ModelJson& model) = nullptr;
};

// The layout of a family of ungated MLPs; null for a Llama-like decoder (RMSNorm, rotary positions,
// gated MLP) and for one that is not known.
const DecoderLayout* find_layout(const ModelJson& model);

// Biases and norms of a Llama-like decoder whose dimensions are read.
void finish_llama_like(const ModelJson& model, Decoder& decoder);

}  // namespace pw
