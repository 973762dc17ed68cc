#include "pw/decoder.h"

#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;

std::int64_t norm_parameters(const Decoder& decoder) {
  return decoder.norm == NormKind::layer ? 2 * decoder.hidden_size : decoder.hidden_size;
}

std::string counted(std::int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

std::int64_t layer_count(const Decoder& decoder) {
  std::int64_t count = 0;
  for (const LayerGroup& group : decoder.layers) count = checked_add(count, group.count);
  return count;
}

LayerParameters layer_parameters(const Decoder& decoder, const LayerGroup& group,
                                 std::int64_t tp_size) {
  const AttentionShape& attention = group.attention;
  const std::int64_t h = decoder.hidden_size;
  const std::int64_t heads = ceil_div(attention.heads, tp_size);
  const std::int64_t kv_heads = ceil_div(attention.kv_heads, tp_size);
  const std::int64_t width = ceil_div(group.mlp.width, tp_size);
  const std::int64_t up_width = checked_mul(group.mlp.gated ? 2 : 1, width);
  const std::int64_t qkv_width = checked_mul(heads + 2 * kv_heads, attention.head_dim);
  LayerParameters sum;
  sum.matrices = checked_add(checked_mul(h, 2 * heads + 2 * kv_heads, attention.head_dim),
                             checked_mul(h, checked_add(up_width, width)));
  sum.others = checked_mul(group.norms, norm_parameters(decoder));
  if (attention.qkv_bias) sum.others = checked_add(sum.others, qkv_width);
  if (attention.output_bias) sum.others = checked_add(sum.others, h);
  if (attention.qk_norm) sum.others = checked_add(sum.others, 2 * attention.head_dim);
  if (group.mlp.bias) sum.others = checked_add(sum.others, checked_add(up_width, h));
  return sum;
}

std::int64_t parameters(const Decoder& decoder) {
  const std::int64_t table = checked_mul(decoder.vocab_size, decoder.hidden_size);
  std::int64_t sum = decoder.tied_embeddings ? table : checked_mul(2, table);
  for (const LayerGroup& group : decoder.layers) {
    const LayerParameters layer = layer_parameters(decoder, group);
    sum = checked_add(sum, checked_mul(group.count, checked_add(layer.matrices, layer.others)));
  }
  const std::int64_t norms = (decoder.final_norm ? 1 : 0) + (decoder.embedding_norm ? 1 : 0);
  sum = checked_add(sum, checked_mul(norms, norm_parameters(decoder)));
  sum = checked_add(sum, checked_mul(decoder.learned_positions, decoder.hidden_size));
  return decoder.lm_head_bias ? checked_add(sum, decoder.vocab_size) : sum;
}

std::int64_t kv_bytes_per_token(const Decoder& decoder, std::int64_t tp_size) {
  std::int64_t bytes = 0;
  for (const LayerGroup& group : decoder.layers) {
    const std::int64_t kv_heads = ceil_div(group.attention.kv_heads, tp_size);
    bytes = checked_add(
        bytes, checked_mul(group.count, 2 * kBf16Bytes, kv_heads, group.attention.head_dim));
  }
  return bytes;
}

std::vector<std::string> describe_layers(const Decoder& decoder) {
  std::vector<std::string> lines;
  for (const LayerGroup& group : decoder.layers) {
    const AttentionShape& attention = group.attention;
    std::string line = counted(group.count, "layer") + ": " + counted(attention.heads, "head") +
                       " of " + std::to_string(attention.head_dim) + ", " +
                       counted(attention.kv_heads, "KV head");
    if (attention.window) line += ", window of " + std::to_string(*attention.window) + " tokens";
    line += group.parallel ? ", beside a " : ", ";
    line += std::string(group.mlp.gated ? "gated" : "plain") + " MLP of " +
            std::to_string(group.mlp.width) + ", " +
            counted(group.norms, decoder.norm == NormKind::layer ? "layer norm" : "RMSNorm");
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace pw
