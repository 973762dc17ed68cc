#include "profile/torch/kernels.h"

#include <iterator>
#include <tuple>

namespace pw {
namespace {

#if !PW_TORCH_AT_LEAST(2, 5)
// This LibTorch knows no groups of query heads that share keys and values.
struct Ungrouped {
  at::Tensor query, key, value;
};

Ungrouped ungrouped(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const std::int64_t group = query.size(1) / key.size(1);
  if (group == 1) {
    return {query, key, value};
  }
  if (query.size(2) == 1) {  // the heads of a group as queries of one head: nothing is copied
    return {query.reshape({query.size(0), key.size(1), group, query.size(3)}), key, value};
  }
  return {query, key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)};
}
#endif

}  // namespace

at::Tensor matrix_product(const at::Tensor& input, const at::Tensor& weight) {
  return at::linear(input, weight);
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const bool causal = query.size(2) > 1;
#if PW_TORCH_AT_LEAST(2, 5)
  return at::scaled_dot_product_attention(query, key, value, {}, 0.0, causal, {},
                                          query.size(1) != key.size(1));
#else
  const Ungrouped heads = ungrouped(query, key, value);
#if PW_TORCH_AT_LEAST(2, 0)
  const at::Tensor result =
      at::scaled_dot_product_attention(heads.query, heads.key, heads.value, {}, 0.0, causal);
#else
  const at::Tensor result = std::get<0>(at::_scaled_dot_product_attention(
      heads.query, heads.key, heads.value, {}, 0.0, /*need_attn_weights=*/false, causal));
#endif
  return result.reshape(query.sizes());
#endif
}

at::Tensor rms_normalised(const at::Tensor& input, const at::Tensor& weight) {
#if PW_TORCH_AT_LEAST(2, 4)
  return at::rms_norm(input, {input.size(-1)}, weight, kNormEpsilon);
#else
  const at::Tensor square = (input * input).mean(-1, /*keepdim=*/true);
  return input * (square + kNormEpsilon).rsqrt() * weight;
#endif
}

at::Tensor silu_and_mul(const at::Tensor& gate_up) {
  const std::int64_t width = gate_up.size(-1) / 2;
  return at::silu(gate_up.narrow(-1, 0, width)) * gate_up.narrow(-1, width, width);
}

std::string library_name() { return "LibTorch " TORCH_VERSION; }

std::string linear_source(const at::Device& device) {
  const char* library = device.is_cuda() ? "cuBLAS" : at::hasMKL() ? "MKL" : "BLAS";
  return library_name() + " linear (" + library + ")";
}

#if PW_TORCH_AT_LEAST(2, 5)
std::string attention_source(const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value) {
  const std::int64_t backend = at::_fused_sdp_choice(query, key, value, {}, 0.0, query.size(2) > 1,
                                                     {}, query.size(1) != key.size(1));
  constexpr const char* kBackends[] = {"unfused", "flash", "memory-efficient", "cuDNN"};
  const bool known = backend >= 0 && backend < std::int64_t{std::size(kBackends)};
  return library_name() + " scaled_dot_product_attention (" +
         (known ? kBackends[backend] : "another backend") + ")";
}
#else
std::string attention_source(const at::Tensor& query, const at::Tensor& key, const at::Tensor&) {
  const bool repeats = query.size(1) != key.size(1) && query.size(2) > 1;
  return library_name() + " scaled_dot_product_attention (unfused" +
         (repeats ? ", KV heads repeated)" : ")");
}
#endif

std::string rms_norm_source() {
#if PW_TORCH_AT_LEAST(2, 4)
  return library_name() + " add, rms_norm";
#else
  return library_name() + " add, mul, mean, add, rsqrt, mul, mul";
#endif
}

std::string silu_and_mul_source() { return library_name() + " silu, mul"; }

}  // namespace pw
