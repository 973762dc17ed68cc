#include "decoder_json.h"

#include <array>
#include <utility>

namespace pw {
namespace {

template <class Enum, std::size_t count>
using Names = std::array<std::pair<Enum, const char*>, count>;
constexpr Names<NormKind, 2> kNorms{{{NormKind::rms, "rms"}, {NormKind::layer, "layer"}}};
constexpr Names<Positions, 3> kPositions{
    {{Positions::rotary, "rotary"}, {Positions::learned, "learned"}, {Positions::alibi, "alibi"}}};

template <class Enum, std::size_t count>
const char* name_of(const Names<Enum, count>& names, Enum value) {
  for (const auto& [each, name] : names) {
    if (each == value) return name;
  }
  return "";
}

template <class Enum, std::size_t count>
Enum read_name(const Names<Enum, count>& names, const JsonFields& fields, std::string_view key) {
  const std::string text = fields.text(key);
  std::string known;
  for (const auto& [each, name] : names) {
    if (text == name) return each;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw DataError(fields.where(key) + " is \"" + text + "\", expected one of " + known);
}

Json layers_json(const LayerGroup& group) {
  const AttentionShape& attention = group.attention;
  Json json{{"count", group.count},
            {"heads", attention.heads},
            {"kv_heads", attention.kv_heads},
            {"head_dim", attention.head_dim}};
  if (attention.window) json["window"] = *attention.window;
  json["qkv_bias"] = attention.qkv_bias;
  json["output_bias"] = attention.output_bias;
  json["qk_norm"] = attention.qk_norm;
  json["mlp_width"] = group.mlp.width;
  json["gated"] = group.mlp.gated;
  json["mlp_bias"] = group.mlp.bias;
  json["norms"] = group.norms;
  json["parallel"] = group.parallel;
  return json;
}

LayerGroup read_layers(const JsonFields& fields) {
  LayerGroup group;
  AttentionShape& attention = group.attention;
  group.count = integer_at_least(fields, "count", 1);
  attention.heads = integer_at_least(fields, "heads", 1);
  attention.kv_heads = integer_at_least(fields, "kv_heads", 1);
  attention.head_dim = integer_at_least(fields, "head_dim", 1);
  if (fields.has("window")) attention.window = integer_at_least(fields, "window", 1);
  attention.qkv_bias = fields.flag("qkv_bias");
  attention.output_bias = fields.flag("output_bias");
  attention.qk_norm = fields.flag("qk_norm");
  group.mlp.width = integer_at_least(fields, "mlp_width", 1);
  group.mlp.gated = fields.flag("gated");
  group.mlp.bias = fields.flag("mlp_bias");
  group.norms = integer_at_least(fields, "norms", 0);
  group.parallel = fields.flag("parallel");
  return group;
}

}  // namespace

Decoder plain_decoder(std::int64_t hidden_size, std::int64_t vocab_size, const LayerGroup& layers) {
  Decoder decoder;
  decoder.hidden_size = hidden_size;
  decoder.vocab_size = vocab_size;
  LayerGroup plain;
  plain.count = layers.count;
  plain.attention.heads = layers.attention.heads;
  plain.attention.kv_heads = layers.attention.kv_heads;
  plain.attention.head_dim = layers.attention.head_dim;
  plain.attention.qk_norm = layers.attention.qk_norm;  // told by the architecture
  plain.mlp.width = layers.mlp.width;
  decoder.layers.push_back(plain);
  return decoder;
}

bool is_plain(const Decoder& decoder) {
  if (decoder.layers.size() != 1) return false;
  return decoder_json(decoder) ==
         decoder_json(
             plain_decoder(decoder.hidden_size, decoder.vocab_size, decoder.layers.front()));
}

Json decoder_json(const Decoder& decoder) {
  Json json{{"layers", Json::array()}};
  for (const LayerGroup& group : decoder.layers) json["layers"].push_back(layers_json(group));
  json["norm"] = name_of(kNorms, decoder.norm);
  json["final_norm"] = decoder.final_norm;
  json["embedding_norm"] = decoder.embedding_norm;
  json["positions"] = name_of(kPositions, decoder.positions);
  json["rotary_fraction"] = decoder.rotary_fraction;
  json["learned_positions"] = decoder.learned_positions;
  json["lm_head_bias"] = decoder.lm_head_bias;
  return json;
}

void read_decoder(const JsonFields& fields, Decoder& decoder) {
  decoder.layers.clear();
  const Json& list = fields.array("layers");
  for (std::size_t i = 0; i < list.size(); ++i) {
    decoder.layers.push_back(
        read_layers(JsonFields(list[i], fields.where("layers") + "[" + std::to_string(i) + "]")));
  }
  if (decoder.layers.empty()) {
    throw DataError(fields.where("layers") + " is empty, expected at least one group of layers");
  }
  decoder.norm = read_name(kNorms, fields, "norm");
  decoder.final_norm = fields.flag("final_norm");
  decoder.embedding_norm = fields.flag("embedding_norm");
  decoder.positions = read_name(kPositions, fields, "positions");
  decoder.rotary_fraction = fields.number("rotary_fraction");
  decoder.learned_positions = integer_at_least(fields, "learned_positions", 0);
  decoder.lm_head_bias = fields.flag("lm_head_bias");
}

}  // namespace pw
