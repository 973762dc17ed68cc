#include "peak_check.h"

#include <algorithm>

namespace pw {
namespace {

struct PeakFraction {
  const PipelineFeatures& features;
  double cycles;  // of one SM
  const HardwareSpec& hardware;

  double of_tensor_pipe(const Work& work) const {
    return work.operations / (cycles * tensor_ops_per_cycle_sm(hardware, work.element) *
                              static_cast<double>(hardware.num_sms));
  }
  double of_both_pipes() const { return ideal_cycles<double>(features) / (2 * cycles); }
  // Of bytes that no cache above L2 holds at the start.
  double of_l2(double bytes) const {
    constexpr double kBytesPerUs = 1024.0 * 1024 * 1024 * 1e-6;  // of one GiB/s
    const double duration_us = cycles / hardware.sm_freq_mhz;
    return bytes / (hardware.l2_bandwidth * kBytesPerUs * duration_us);
  }
  double of_matrix(const Work& work) const {
    return std::max(of_tensor_pipe(work), of_l2(work.bytes));
  }

  double operator()(const GemmConfig& c) const { return of_matrix(work(c)); }
  double operator()(const Fp8GemmConfig& c) const { return of_matrix(work(c)); }
  double operator()(const AttentionConfig& c) const {
    AttentionSums context = sum_requests(c);
    const double tensor = of_tensor_pipe(work(c, context));
    context.queries = 0;  // bytes of the keys and values alone
    return std::max(tensor, of_l2(work(c, context).bytes));
  }
  double operator()(const RmsNormConfig& c) const {
    // One row in, one out: half of the bytes of a kernel that adds a residual too.
    return std::max(of_both_pipes(), of_l2(work(c).bytes / 2));
  }
  double operator()(const SiluMulConfig& c) const {
    return std::max(of_both_pipes(), of_l2(work(c).bytes));
  }
  template <class Config>
  double operator()(const Config& c) const {
    return of_tensor_pipe(work(c));
  }
};

}  // namespace

double fraction_of_peak(const OperatorConfig& config, const PipelineFeatures& features,
                        double duration_us, const HardwareSpec& hardware) {
  return std::visit(PeakFraction{features, duration_us * hardware.sm_freq_mhz, hardware}, config);
}

}  // namespace pw
