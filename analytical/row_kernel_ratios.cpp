#include <algorithm>
#include <cmath>

#include "pw/operators.h"
#include "pw/ratios.h"
#include "pw/work.h"
#include "ratio_math.h"

namespace pw {
namespace {

// Kernels with one CTA per row: bound by DRAM traffic of `bytes`, both ways.
RatioFeatures row_kernel_ratios(double bytes, std::int64_t seq, std::int64_t dim,
                                const PipelineFeatures& pipes, const HardwareSpec& hardware) {
  const double freq = hardware.sm_freq_mhz;
  const double bound_us = bytes / dram_bytes_per_us(hardware);
  const LnToBound ln_to_bound(bound_us);
  const auto rows = static_cast<double>(seq);
  const auto sms = static_cast<double>(hardware.num_sms);
  return {bound_us,
          {std::log(bound_us), std::log2(rows), std::log2(static_cast<double>(dim)),
           std::log(rows / sms), rows / sms / std::ceil(rows / sms),
           ln_to_bound(pipes.fma.all_cycles / freq), ln_to_bound(pipes.xu.all_cycles / freq),
           ln_to_bound(pipes.memory.local_cycles / freq),
           ln_to_bound(pipes.fma.sm_max_cycles / freq), ln_to_l2(bytes, hardware, -6, 2)}};
}

const RatioNames& row_kernel_names() {
  static const RatioNames names = {"l_abs", "log2_seq", "log2_dim", "ln_rows_per_sm", "wave_fill",
                                   "l_fma", "l_xu",     "l_l2",     "l_fma_sm_max",   "hot"};
  return names;
}

}  // namespace

const RatioNames& ratio_names(const RmsNormConfig*) { return row_kernel_names(); }
const RatioNames& ratio_names(const SiluMulConfig*) { return row_kernel_names(); }

RatioFeatures ratios(const RmsNormConfig& c, const HardwareSpec& hardware) {
  return row_kernel_ratios(work(c).bytes, c.seq, c.dim, analyze(c, hardware, {}), hardware);
}

RatioFeatures ratios(const SiluMulConfig& c, const HardwareSpec& hardware) {
  return row_kernel_ratios(work(c).bytes, c.seq, c.dim, analyze(c, hardware, {}), hardware);
}

}  // namespace pw
