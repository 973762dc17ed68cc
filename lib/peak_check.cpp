#include "peak_check.h"

namespace pw {
namespace {

double matrix_ops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
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

  double operator()(const GemmConfig& c) const { return of_bf16(matrix_ops(c.m, c.n, c.k)); }
  double operator()(const Fp8GemmConfig& c) const {
    return of_tensor_pipe(matrix_ops(c.m, c.n, c.k), hardware.tensor_fp8_ops_per_cycle_sm);
  }
  double operator()(const AttentionConfig& c) const {
    return of_bf16(2 * matrix_ops(c.query_heads, c.head_dim, 1) * attention_pairs(c));
  }
  double operator()(const RmsNormConfig&) const { return of_both_pipes(); }
  double operator()(const SiluMulConfig&) const { return of_both_pipes(); }
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
