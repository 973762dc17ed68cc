#include <algorithm>
#include <cmath>

#include "profile/torch/device.h"
#include "profile/torch/kernels.h"
#include "profile/torch_transformer.h"
#include "pw/fields.h"

namespace pw {
namespace {

struct Layer {
  at::Tensor attention_norm, qkv, query_norm, key_norm, output;
  at::Tensor mlp_norm, gate_up, down;
  at::Tensor keys, values;  // [slots, KV heads, longest, head_dim]
};

// Neighbouring requests with as many new and as many old tokens: one call of the attention kernel.
struct Group {
  std::int64_t first_slot = 0, slots = 0;
  std::int64_t first_token = 0;  // in the batch's rows
  std::int64_t new_tokens = 0, old_tokens = 0;
};

std::int64_t longest(const std::vector<Request>& requests) {
  std::int64_t tokens = 0;
  for (const Request& request : requests) {
    tokens = std::max(tokens, request.input_tokens + request.output_tokens);
  }
  return tokens;
}

class TorchTransformer : public Transformer {
 public:
  TorchTransformer(const ModelConfig& model, const std::vector<Request>& requests,
                   TorchDevice& device)
      : model_(model),
        attention_(model.layers.front().attention),
        device_(device),
        has_qk_norm_(attention_.qk_norm) {
    const at::NoGradGuard no_gradient;
    const auto slots = static_cast<std::int64_t>(requests.size());
    make_weights(slots, longest(requests));
    make_rotation(longest(requests));
    reset();
  }

  std::vector<std::int64_t> forward(const Tokens& tokens) override;
  std::vector<float> logits() const override {
    const at::Tensor values = logits_.to(at::kCPU).to(at::kFloat).contiguous();
    return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
  }
  void reset() override { seen_.clear(); }

 private:
  void make_weights(std::int64_t slots, std::int64_t length);
  void make_rotation(std::int64_t length);
  at::Tensor random_matrix(std::int64_t rows, std::int64_t columns) const {
    // Rows of about unit length keep activations near 1 through all layers.
    return at::randn({rows, columns}, device_.options())
        .mul_(1 / std::sqrt(static_cast<double>(columns)));
  }
  at::Tensor ones(std::int64_t width) const { return at::ones({width}, device_.options()); }

  std::vector<Group> groups_of(const Tokens& tokens) const;
  at::Tensor rotated(const at::Tensor& heads, const at::Tensor& positions) const;
  at::Tensor attend(Layer& layer, const at::Tensor& qkv, const at::Tensor& positions,
                    const std::vector<Group>& groups) const;

  const ModelConfig model_;
  const AttentionShape attention_;
  TorchDevice& device_;
  const bool has_qk_norm_;
  at::Tensor embedding_, final_norm_, lm_head_, cosine_, sine_, logits_;
  std::vector<Layer> layers_;
  std::vector<std::int64_t> seen_;  // tokens of each slot
};

void TorchTransformer::make_weights(std::int64_t slots, std::int64_t length) {
  const ModelConfig& m = model_;
  const AttentionShape& a = attention_;
  const std::int64_t mlp_width = m.layers.front().mlp.width, layers = layer_count(m);
  embedding_ = at::randn({m.vocab_size, m.hidden_size}, device_.options());
  lm_head_ = m.tied_embeddings ? embedding_ : random_matrix(m.vocab_size, m.hidden_size);
  final_norm_ = ones(m.hidden_size);
  const std::int64_t heads_width = a.heads * a.head_dim;
  const std::int64_t qkv_width = heads_width + 2 * a.kv_heads * a.head_dim;
  for (std::int64_t i = 0; i < layers; ++i) {
    Layer layer;
    layer.attention_norm = ones(m.hidden_size);
    layer.qkv = random_matrix(qkv_width, m.hidden_size);
    layer.output = random_matrix(m.hidden_size, heads_width);
    layer.mlp_norm = ones(m.hidden_size);
    layer.gate_up = random_matrix(2 * mlp_width, m.hidden_size);
    layer.down = random_matrix(m.hidden_size, mlp_width);
    if (has_qk_norm_) {
      layer.query_norm = ones(a.head_dim);
      layer.key_norm = ones(a.head_dim);
    }
    const std::vector<std::int64_t> cache{slots, a.kv_heads, length, a.head_dim};
    layer.keys = at::zeros(cache, device_.options());
    layer.values = at::zeros(cache, device_.options());
    layers_.push_back(std::move(layer));
  }
}

void TorchTransformer::make_rotation(std::int64_t length) {
  const auto options = at::TensorOptions().device(device_.device()).dtype(at::kFloat);
  const at::Tensor exponents =
      at::arange(0, attention_.head_dim, 2, options) / static_cast<double>(attention_.head_dim);
  const at::Tensor frequencies = (exponents * -std::log(10000.0)).exp();
  const at::Tensor angles = at::outer(at::arange(length, options), frequencies);
  const at::Tensor both = at::cat({angles, angles}, 1);
  cosine_ = both.cos().to(device_.scalar_type());
  sine_ = both.sin().to(device_.scalar_type());
}

std::vector<Group> TorchTransformer::groups_of(const Tokens& tokens) const {
  std::vector<Group> groups;
  std::int64_t row = 0;
  for (std::size_t slot = 0; slot < tokens.size(); ++slot) {
    const auto count = static_cast<std::int64_t>(tokens[slot].size());
    if (groups.empty() || groups.back().new_tokens != count ||
        groups.back().old_tokens != seen_[slot]) {
      groups.push_back({static_cast<std::int64_t>(slot), 0, row, count, seen_[slot]});
    }
    ++groups.back().slots;
    row += count;
  }
  return groups;
}

// [tokens, heads, d] by its positions: the two halves of a head are the parts of complex numbers.
at::Tensor TorchTransformer::rotated(const at::Tensor& heads, const at::Tensor& positions) const {
  const std::int64_t half = attention_.head_dim / 2;
  const at::Tensor turned = at::cat({-heads.narrow(-1, half, half), heads.narrow(-1, 0, half)}, -1);
  return heads * cosine_.index_select(0, positions).unsqueeze(1) +
         turned * sine_.index_select(0, positions).unsqueeze(1);
}

at::Tensor TorchTransformer::attend(Layer& layer, const at::Tensor& qkv,
                                    const at::Tensor& positions,
                                    const std::vector<Group>& groups) const {
  const std::int64_t heads = attention_.heads, kv_heads = attention_.kv_heads;
  const std::int64_t d = attention_.head_dim, tokens = qkv.size(0);
  at::Tensor query = qkv.narrow(1, 0, heads * d).view({tokens, heads, d});
  at::Tensor key = qkv.narrow(1, heads * d, kv_heads * d).view({tokens, kv_heads, d});
  const at::Tensor value =
      qkv.narrow(1, (heads + kv_heads) * d, kv_heads * d).view({tokens, kv_heads, d});
  if (has_qk_norm_) {
    query = rms_normalised(query, layer.query_norm);
    key = rms_normalised(key, layer.key_norm);
  }
  query = rotated(query, positions);
  key = rotated(key, positions);
  std::vector<at::Tensor> results;
  for (const Group& g : groups) {
    const std::int64_t rows = g.slots * g.new_tokens, all_tokens = g.old_tokens + g.new_tokens;
    const auto by_head = [&](const at::Tensor& all, std::int64_t count) {
      return all.narrow(0, g.first_token, rows)
          .view({g.slots, g.new_tokens, count, d})
          .transpose(1, 2);
    };
    const auto cached = [&](const at::Tensor& cache, const at::Tensor& fresh) {
      const at::Tensor slots = cache.narrow(0, g.first_slot, g.slots);
      slots.narrow(2, g.old_tokens, g.new_tokens).copy_(by_head(fresh, kv_heads));
      return slots.narrow(2, 0, all_tokens);
    };
    const at::Tensor keys = cached(layer.keys, key), values = cached(layer.values, value);
    results.push_back(
        attention(by_head(query, heads), keys, values).transpose(1, 2).reshape({rows, heads * d}));
  }
  return results.size() == 1 ? results.front() : at::cat(results, 0);
}

std::vector<std::int64_t> TorchTransformer::forward(const Tokens& tokens) {
  const at::NoGradGuard no_gradient;
  seen_.resize(std::max(seen_.size(), tokens.size()), 0);
  std::vector<std::int64_t> flat, positions, last;
  for (std::size_t slot = 0; slot < tokens.size(); ++slot) {
    for (std::size_t i = 0; i < tokens[slot].size(); ++i) {
      flat.push_back(tokens[slot][i]);
      positions.push_back(seen_[slot] + static_cast<std::int64_t>(i));
    }
    last.push_back(static_cast<std::int64_t>(flat.size()) - 1);
  }
  const auto on_device = [&](const std::vector<std::int64_t>& numbers) {
    return at::tensor(numbers, at::kLong).to(device_.device());
  };
  const at::Tensor places = on_device(positions);
  const std::vector<Group> groups = groups_of(tokens);
  at::Tensor residual = at::embedding(embedding_, on_device(flat));
  at::Tensor hidden;  // what the layer before adds to the residual
  const auto normed = [&](const at::Tensor& weight) {
    residual = hidden.defined() ? hidden + residual : residual;
    return rms_normalised(residual, weight);
  };
  for (Layer& layer : layers_) {
    const at::Tensor qkv = matrix_product(normed(layer.attention_norm), layer.qkv);
    hidden = matrix_product(attend(layer, qkv, places, groups), layer.output);
    hidden = matrix_product(silu_and_mul(matrix_product(normed(layer.mlp_norm), layer.gate_up)),
                            layer.down);
  }
  logits_ = matrix_product(normed(final_norm_).index_select(0, on_device(last)), lm_head_);
  for (std::size_t slot = 0; slot < tokens.size(); ++slot) {
    seen_[slot] += static_cast<std::int64_t>(tokens[slot].size());
  }
  const at::Tensor next = logits_.argmax(-1).to(at::kCPU);
  return {next.data_ptr<std::int64_t>(), next.data_ptr<std::int64_t>() + next.numel()};
}

}  // namespace

TransformerBytes transformer_bytes(const ModelConfig& m, const std::vector<Request>& requests,
                                   const ProfiledDevice& device) {
  const AttentionShape& a = m.layers.front().attention;
  const std::int64_t mlp_width = m.layers.front().mlp.width, layers = layer_count(m);
  const std::int64_t width = device.dtype() == "float32" ? 4 : 2;
  std::int64_t tokens = 0, scores = 0;
  for (const Request& request : requests) {
    tokens += request.input_tokens;
    // A kernel that is not fused keeps all scores of a request: as they are and as probabilities.
    scores = std::max(scores, 2 * a.heads * request.input_tokens * request.input_tokens);
  }
  const std::int64_t heads = a.heads + 2 * a.kv_heads;
  const std::int64_t per_layer = m.hidden_size * (heads + a.heads) * a.head_dim +
                                 3 * m.hidden_size * mlp_width + 2 * m.hidden_size;
  TransformerBytes bytes;
  bytes.weights = width * (layers * per_layer + m.hidden_size +
                           (m.tied_embeddings ? 1 : 2) * m.vocab_size * m.hidden_size);
  bytes.kv_cache = width * 2 * layers * a.kv_heads * a.head_dim * longest(requests) *
                   static_cast<std::int64_t>(requests.size());
  bytes.activations =
      width * (tokens * (4 * m.hidden_size + 3 * heads * a.head_dim + 3 * mlp_width) +
               static_cast<std::int64_t>(requests.size()) * m.vocab_size +
               (device.info().is_gpu ? 0 : scores));
  return bytes;
}

std::unique_ptr<Transformer> Transformer::make(const ModelConfig& model,
                                               const std::vector<Request>& requests,
                                               ProfiledDevice& device) {
  const LayerGroup& layers = model.layers.front();
  if (model.layers.size() != 1 || !layers.mlp.gated || layers.parallel ||
      model.norm != NormKind::rms || model.positions != Positions::rotary ||
      model.rotary_fraction != 1) {
    throw DataError(model.stem +
                    " is no decoder of equal layers with RMSNorm, rotary positions and "
                    "a gated MLP, the only kind that is measured");
  }
  if (layers.attention.head_dim % 2 != 0) {
    throw DataError(model.stem + " has head_dim " + std::to_string(layers.attention.head_dim) +
                    ", expected an even number for the rotary embedding");
  }
  const TransformerBytes bytes = transformer_bytes(model, requests, device);
  const std::int64_t free_bytes = device.state().free_bytes;
  if (bytes.total() > free_bytes) {
    throw DataError(model.stem + " needs " + std::to_string(bytes.total()) + " bytes in " +
                    device.dtype() + " (" + std::to_string(bytes.weights) + " weights, " +
                    std::to_string(bytes.kv_cache) + " KV cache, about " +
                    std::to_string(bytes.activations) + " activations), " + device.info().name +
                    " has " + std::to_string(free_bytes) +
                    " free: choose a smaller model, fewer or shorter requests");
  }
  return std::make_unique<TorchTransformer>(model, requests, dynamic_cast<TorchDevice&>(device));
}

}  // namespace pw
