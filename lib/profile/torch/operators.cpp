#include <numeric>
#include <utility>

#include <ATen/Version.h>

#include "profile/torch/device.h"
#include "profile/torch/kernels.h"
#include "pw/fields.h"

// The operands and the call of each family.
namespace pw {
namespace {

// Cuts a set of operands into tensors, in order.
class Operand {
 public:
  explicit Operand(at::Tensor values) : values_(std::move(values)) {}

  at::Tensor take(at::IntArrayRef shape) {
    const std::int64_t elements =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const at::Tensor part = values_.narrow(0, begin_, elements).view(shape);
    begin_ += elements;
    return part;
  }

 private:
  at::Tensor values_;
  std::int64_t begin_ = 0;
};

class TorchKernel : public ProfiledKernel {
 public:
  // One call per set of operands.
  TorchKernel(TorchDevice& device, std::vector<std::function<void()>> calls, std::string source)
      : device_(device), calls_(std::move(calls)), source_(std::move(source)) {}

  double timed_calls_us(std::int64_t calls) override {
    const at::NoGradGuard no_gradient;
    try {
      const double us = device_.timed_us(calls, [&](std::int64_t i) { call(i); });
      next_ = (next_ + static_cast<std::size_t>(calls)) % calls_.size();
      return us;
    } catch (const c10::OutOfMemoryError& error) {
      throw DoesNotFit(std::string("its result does not fit: ") + error.what_without_backtrace());
    }
  }
  std::int64_t operand_sets() const override { return static_cast<std::int64_t>(calls_.size()); }
  std::string source() const override { return source_; }

 private:
  void call(std::int64_t i) const {  // from -1 on
    calls_[(next_ + calls_.size() + static_cast<std::size_t>(i)) % calls_.size()]();
  }

  TorchDevice& device_;
  std::vector<std::function<void()>> calls_;
  std::string source_;
  std::size_t next_ = 0;
};

bool has_fp8(const TorchDevice& device) {
  const DeviceInfo& info = device.info();
  return PW_TORCH_AT_LEAST(2, 5) && info.is_gpu &&
         10 * info.compute_major + info.compute_minor >= 89;
}

class Preparation {
 public:
  Preparation(TorchDevice& device, Operands operands) : device_(device), operands_(operands) {}

  std::unique_ptr<ProfiledKernel> operator()(const GemmConfig& c) {
    return kernel(
        c.m * c.k + c.n * c.k, device_.scalar_type(), linear_source(device_.device()),
        [&](Operand operand) {
          const at::Tensor input = operand.take({c.m, c.k}), weight = operand.take({c.n, c.k});
          return [input, weight] { matrix_product(input, weight); };
        });
  }

  std::unique_ptr<ProfiledKernel> operator()(const Fp8GemmConfig& c) {
#if PW_TORCH_AT_LEAST(2, 5)
    const at::Tensor scale =
        at::ones({}, at::TensorOptions().device(device_.device()).dtype(at::kFloat));
    return kernel(c.m * c.k + c.n * c.k, at::kFloat8_e4m3fn, library_name() + " _scaled_mm",
                  [&](Operand operand) {
                    const at::Tensor input = operand.take({c.m, c.k});
                    const at::Tensor weight = operand.take({c.n, c.k}).t();
                    return [input, weight, scale] {
                      at::_scaled_mm(input, weight, scale, scale, {}, {}, at::kBFloat16);
                    };
                  });
#else
    return no_kernel(c);
#endif
  }

  std::unique_ptr<ProfiledKernel> operator()(const AttentionConfig& c) {
    const std::int64_t requests = static_cast<std::int64_t>(c.q_lengths.size());
    const std::int64_t q = c.q_lengths.front(), kv = c.kv_lengths.front();
    require_uniform(c);
    std::string source;
    return kernel(requests * c.head_dim * (c.query_heads * q + 2 * c.kv_heads * kv),
                  device_.scalar_type(), source, [&](Operand operand) {
                    // As a model has them: queries by token, keys and values by head.
                    const at::Tensor query =
                        operand.take({requests, q, c.query_heads, c.head_dim}).transpose(1, 2);
                    const at::Tensor key = operand.take({requests, c.kv_heads, kv, c.head_dim});
                    const at::Tensor value = operand.take({requests, c.kv_heads, kv, c.head_dim});
                    source = attention_source(query, key, value);
                    return [query, key, value] { attention(query, key, value); };
                  });
  }

  std::unique_ptr<ProfiledKernel> operator()(const RmsNormConfig& c) {
    return kernel(2 * c.seq * c.dim + c.dim, device_.scalar_type(), rms_norm_source(),
                  [&](Operand operand) {
                    const at::Tensor input = operand.take({c.seq, c.dim});
                    const at::Tensor residual = operand.take({c.seq, c.dim});
                    const at::Tensor weight = operand.take({c.dim});
                    return [input, residual, weight] { rms_normalised(input + residual, weight); };
                  });
  }

  std::unique_ptr<ProfiledKernel> operator()(const SiluMulConfig& c) {
    return kernel(c.seq * c.dim, device_.scalar_type(), silu_and_mul_source(),
                  [&](Operand operand) {
                    const at::Tensor gate_up = operand.take({c.seq, c.dim});
                    return [gate_up] { silu_and_mul(gate_up); };
                  });
  }

  template <class Config>
  std::unique_ptr<ProfiledKernel> operator()(const Config& c) {
    return no_kernel(c);
  }

 private:
  // `make_call` returns the call on one set of operands; `source` is read after all calls are made.
  template <class MakeCall>
  std::unique_ptr<ProfiledKernel> kernel(std::int64_t elements, at::ScalarType dtype,
                                         const std::string& source, MakeCall make_call) {
    std::vector<std::function<void()>> calls;
    for (at::Tensor& set : device_.operand_sets(elements, dtype, operands_)) {
      calls.push_back(make_call(Operand(std::move(set))));
    }
    return std::make_unique<TorchKernel>(device_, std::move(calls), source);
  }

  static void require_uniform(const AttentionConfig& c) {
    const std::int64_t q = c.q_lengths.front(), kv = c.kv_lengths.front();
    const auto all_equal = [](const std::vector<std::int64_t>& lengths) {
      return std::equal(lengths.begin() + 1, lengths.end(), lengths.begin());
    };
    if (!all_equal(c.q_lengths) || !all_equal(c.kv_lengths) || (q != 1 && q != kv) || !c.causal) {
      throw DataError(
          describe(c) +
          " cannot be profiled: expected requests of one length, causal, with either one "
          "query or as many as keys");
    }
  }

  std::unique_ptr<ProfiledKernel> no_kernel(const OperatorConfig& config) {
    throw DataError(device_.refusal(operator_family(config).name));
  }

  TorchDevice& device_;
  Operands operands_;
};

}  // namespace

std::string TorchDevice::refusal(std::string_view family) const {
  const std::string has_no = library() + " has no ";
  if (family == MoeConfig::kName || family == ExpertBlockConfig::kName) {
    return has_no + "fused mixture-of-experts kernel for operator '" + std::string(family) + "'";
  }
  if (family == Fp8GemmConfig::kName && !has_fp8(*this)) {
    return has_no + "fp8 matrix product on " + info_.name + " for operator '" +
           std::string(family) + "'";
  }
  return "";
}

std::unique_ptr<ProfiledKernel> TorchDevice::prepare(const OperatorConfig& config,
                                                     Operands operands) {
  const at::NoGradGuard no_gradient;
  return std::visit(Preparation(*this, operands), config);
}

}  // namespace pw
