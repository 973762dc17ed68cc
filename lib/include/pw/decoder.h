#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pw {

// The attention of a layer: grouped-query, queries and values of one width.
struct AttentionShape {
  std::int64_t heads = 0;     // of queries
  std::int64_t kv_heads = 0;  // a divisor of heads
  std::int64_t head_dim = 0;
  // Tokens that a query attends to, itself included; absent: all before it.
  std::optional<std::int64_t> window = std::nullopt;
  bool qkv_bias = false, output_bias = false;
  bool qk_norm = false;  // queries and keys of each head are normalised
};

struct MlpShape {
  std::int64_t width = 0;
  bool gated = true;  // three matrices and silu(gate) * up; else two and an activation between
  bool bias = false;
};

// Layers of one shape, wherever they stand.
struct LayerGroup {
  std::int64_t count = 0;
  AttentionShape attention;
  MlpShape mlp;
  std::int64_t norms = 2;  // over the hidden state
  // Attention and MLP read the same state side by side and share one all-reduce.
  bool parallel = false;
};

enum class NormKind { rms, layer };  // a layer norm has a bias too
enum class Positions { rotary, learned, alibi };

// A decoder-only transformer.
struct Decoder {
  std::int64_t hidden_size = 0;
  std::int64_t vocab_size = 0;
  std::vector<LayerGroup> layers;  // at least one group
  NormKind norm = NormKind::rms;
  bool final_norm = true;  // before lm_head
  bool embedding_norm = false;
  Positions positions = Positions::rotary;
  double rotary_fraction = 1;          // of head_dim
  std::int64_t learned_positions = 0;  // rows of their table
  bool tied_embeddings = false;        // one matrix for embedding and lm_head
  bool lm_head_bias = false;
  bool fp8 = false;  // the linear layers of all blocks multiply in fp8; else 16 bit everywhere
};

std::int64_t layer_count(const Decoder& decoder);

// Numbers that are learned, as published totals count them: a tied lm_head once, fp8 scales not.
// Throws std::overflow_error.
std::int64_t parameters(const Decoder& decoder);
// Of one layer on one of `tp_size` tensor-parallel ranks: what a rank count does not divide is
// rounded up. `matrices`: of the linear layers, which fp8 stores in one byte each.
struct LayerParameters {
  std::int64_t matrices = 0, others = 0;
};
LayerParameters layer_parameters(const Decoder& decoder, const LayerGroup& group,
                                 std::int64_t tp_size = 1);

// KV cache of one token of context over all layers, 16 bit, one tensor-parallel rank.
std::int64_t kv_bytes_per_token(const Decoder& decoder, std::int64_t tp_size = 1);

// "32 layers: 32 heads of 128, 8 KV heads, gated MLP of 14336": one line per group.
std::vector<std::string> describe_layers(const Decoder& decoder);

}  // namespace pw
