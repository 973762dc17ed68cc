#include <algorithm>
#include <cmath>

#include "moe_grid.h"
#include "pw/operators.h"
#include "pw/ratios.h"
#include "pw/work.h"
#include "ratio_math.h"

namespace pw {

const RatioNames& ratio_names(const MoeConfig*) {
  static const RatioNames names = {"l_tc",
                                   "l_dr",
                                   "l_abs",
                                   "log2_M",
                                   "log2_E",
                                   "log2_topk",
                                   "log2_H",
                                   "log2_N",
                                   "w2",
                                   "ln_per_expert",
                                   "ln_ctas_per_sm",
                                   "ln_waves",
                                   "wave_fill",
                                   "log2_block_m",
                                   "log2_block_n",
                                   "row_fill",
                                   "l_tensor_all",
                                   "l_tensor_sm_max",
                                   "l_global",
                                   "l_local",
                                   "l_sm_max_global",
                                   "l_sm_max_shared",
                                   "l_sm_max_local",
                                   "hot",
                                   "ln_ridge",
                                   "ln_freq"};
  return names;
}

// The bound is that of work(): padding and experts without rows cost more than it.
RatioFeatures ratios(const MoeConfig& moe, const HardwareSpec& hardware) {
  const MoeGrid grid = moe_grid(moe, hardware);
  const PipelineFeatures pipes = analyze(moe, hardware, {});
  const double freq = hardware.sm_freq_mhz;
  const auto sms = static_cast<double>(hardware.num_sms);
  const auto tokens = static_cast<double>(moe.rows);
  const auto experts = static_cast<double>(moe.experts);
  const double rows = tokens * static_cast<double>(moe.top_k);

  const Work needed = work(moe);
  const double tensor_us = needed.operations / tensor_ops_per_us(hardware, needed.element);
  const double dram_us = needed.bytes / dram_bytes_per_us(hardware);
  const double bound_us = std::max(tensor_us, dram_us);
  const LnToBound ln_to_bound(bound_us);
  const auto ctas = static_cast<double>(grid.ctas);
  const double waves = std::ceil(ctas / sms);
  const MemoryPipe& memory = pipes.memory;
  return {bound_us,
          {ln_to_bound(tensor_us),
           ln_to_bound(dram_us),
           std::log(bound_us),
           std::log2(tokens),
           std::log2(experts),
           std::log2(static_cast<double>(moe.top_k)),
           std::log2(static_cast<double>(moe.hidden)),
           std::log2(static_cast<double>(moe.intermediate)),
           moe.pass == MoeConfig::Pass::w2 ? 1.0 : 0.0,
           std::log(rows / experts),
           std::log(ctas / sms),
           std::log(waves),
           ctas / sms / waves,
           std::log2(static_cast<double>(grid.block_m)),
           std::log2(static_cast<double>(grid.block_n)),
           rows / static_cast<double>(grid.padded_rows),
           ln_to_bound(pipes.tensor.all_cycles / freq),
           ln_to_bound(pipes.tensor.sm_max_cycles / freq),
           ln_to_bound(memory.global_cycles / freq),
           ln_to_bound(memory.local_cycles / freq),
           ln_to_bound(memory.sm_max_global_cycles / freq),
           ln_to_bound(memory.sm_max_shared_cycles / freq),
           ln_to_bound(memory.sm_max_local_cycles / freq),
           ln_to_l2(moe_weight_bytes(moe), hardware, -6, 4),
           std::log(hardware.tensor_bf16_ops_per_cycle_sm * sms * freq / hardware.memory_bandwidth),
           std::log(freq)}};
}

}  // namespace pw
