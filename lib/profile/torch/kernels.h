#pragma once

#include <string>
#include <string_view>

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/version.h>

// Whether this LibTorch is at least that version.
#define PW_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||     \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

// The kernels that are profiled and that the end-to-end model runs: the same calls, so that one can
// be predicted from the other. Tensors are of the device's dtype; shapes as in OperatorConfig.
namespace pw {

inline constexpr double kNormEpsilon = 1e-6;

// `input` [M,K] times `weight` [N,K] transposed.
at::Tensor matrix_product(const at::Tensor& input, const at::Tensor& weight);

// Queries [requests, heads, q, d] of the last q of kv tokens, keys and values [requests, KV heads,
// kv, d]. Causal if q is kv; a single query sees everything.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

at::Tensor rms_normalised(const at::Tensor& input, const at::Tensor& weight);

// Of a row that is gate and up together.
at::Tensor silu_and_mul(const at::Tensor& gate_up);

// Whose kernels these are on a device: "LibTorch 2.11.0 linear (cuBLAS)".
std::string library_name();
std::string linear_source(const at::Device& device);
std::string attention_source(const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value);
std::string rms_norm_source();  // with the residual added before
std::string silu_and_mul_source();

}  // namespace pw
