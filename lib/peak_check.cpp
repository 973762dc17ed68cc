#include "peak_check.h"

#include <algorithm>

namespace pw {
namespace {

constexpr double kBf16Bytes = 2;

double matrix_ops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// Elements of both operands and of the result.
double matrix_elements(std::int64_t m, std::int64_t n, std::int64_t k) {
  return (matrix_ops(m, k, 1) + matrix_ops(k, n, 1) + matrix_ops(m, n, 1)) / 2;
}

double row_elements(std::int64_t seq, std::int64_t dim) {
  return static_cast<double>(seq) * static_cast<double>(dim);
}

double attention_keys(const AttentionConfig& attention) {
  double keys = 0;
  for (const std::int64_t length : attention.kv_lengths) keys += static_cast<double>(length);
  return keys;
}

// Queries times the keys that they see, over all requests.
double attention_pairs(const AttentionConfig& attention) {
  double pairs = 0;
  for (std::size_t i = 0; i < attention.q_lengths.size(); ++i) {
    const auto q = static_cast<double>(attention.q_lengths[i]);
    const auto kv = static_cast<double>(attention.kv_lengths[i]);
    pairs += attention.causal ? q * (kv - q) + q * (q + 1) / 2 : q * kv;
  }
  return pairs;
}

struct PeakFraction {
  const PipelineFeatures& features;
  double cycles;  // of one SM
  const HardwareSpec& hardware;

  double of_tensor_pipe(double ops, double rate) const {
    return ops / (cycles * rate * static_cast<double>(hardware.num_sms));
  }
  double of_bf16(double ops) const {
    return of_tensor_pipe(ops, hardware.tensor_bf16_ops_per_cycle_sm);
  }
  double of_both_pipes() const { return ideal_cycles<double>(features) / (2 * cycles); }
  // Of bytes that no cache above L2 holds at the start.
  double of_l2(double bytes) const {
    constexpr double kBytesPerUs = 1024.0 * 1024 * 1024 * 1e-6;  // of one GiB/s
    const double duration_us = cycles / hardware.sm_freq_mhz;
    return bytes / (hardware.l2_bandwidth * kBytesPerUs * duration_us);
  }

  double operator()(const GemmConfig& c) const {
    return std::max(of_bf16(matrix_ops(c.m, c.n, c.k)),
                    of_l2(kBf16Bytes * matrix_elements(c.m, c.n, c.k)));
  }
  double operator()(const Fp8GemmConfig& c) const {
    return std::max(of_tensor_pipe(matrix_ops(c.m, c.n, c.k), hardware.tensor_fp8_ops_per_cycle_sm),
                    of_l2(matrix_elements(c.m, c.n, c.k)));
  }
  double operator()(const AttentionConfig& c) const {
    return std::max(
        of_bf16(2 * matrix_ops(c.query_heads, c.head_dim, 1) * attention_pairs(c)),
        of_l2(2 * kBf16Bytes * attention_keys(c) * static_cast<double>(c.kv_heads * c.head_dim)));
  }
  double operator()(const RmsNormConfig& c) const {
    return std::max(of_both_pipes(), of_l2(2 * kBf16Bytes * row_elements(c.seq, c.dim)));
  }
  double operator()(const SiluMulConfig& c) const {
    return std::max(of_both_pipes(), of_l2(1.5 * kBf16Bytes * row_elements(c.seq, c.dim)));
  }
  double operator()(const MoeConfig& c) const {
    const std::int64_t projections = c.pass == MoeConfig::Pass::w13 ? 2 : 1;
    return of_bf16(static_cast<double>(projections * c.top_k) *
                   matrix_ops(c.tokens, c.hidden, c.intermediate));
  }
};

}  // namespace

double fraction_of_peak(const OperatorConfig& config, const PipelineFeatures& features,
                        double duration_us, const HardwareSpec& hardware) {
  return std::visit(PeakFraction{features, duration_us * hardware.sm_freq_mhz, hardware}, config);
}

}  // namespace pw
