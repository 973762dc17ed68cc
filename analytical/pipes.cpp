#include "pipes.h"

#include <algorithm>

#include "pw/int_math.h"

namespace pw {
namespace {

constexpr double kBytesPerKib = 1024;
constexpr std::int64_t kBf16Bytes = 2;

// Cycles to move `kib` at `gib_per_s`. The published formulas read the spec's GB/s as GiB/s.
// Evaluated left to right: the order is part of the published values.
double transfer_cycles(double kib, double gib_per_s, double sm_freq_mhz) {
  return kib / gib_per_s / (1024.0 * 1024.0) * sm_freq_mhz * 1e6;
}

}  // namespace

ComputePipe compute_pipe(double all_ops, double sm_max_ops, double ops_per_cycle_sm,
                         const HardwareSpec& hardware) {
  return {all_ops, all_ops / ops_per_cycle_sm / static_cast<double>(hardware.num_sms), sm_max_ops,
          sm_max_ops / ops_per_cycle_sm};
}

MemoryPipe memory_pipe(double all_bytes, double sm_max_bytes, const HardwareSpec& hardware) {
  const double sms = static_cast<double>(hardware.num_sms);
  const double freq = hardware.sm_freq_mhz;
  MemoryPipe pipe;
  pipe.global_kib = all_bytes / kBytesPerKib;
  pipe.global_cycles = transfer_cycles(pipe.global_kib, hardware.memory_bandwidth, freq);
  pipe.local_cycles = transfer_cycles(pipe.global_kib, hardware.l2_bandwidth, freq);
  pipe.sm_max_kib = sm_max_bytes / kBytesPerKib;
  pipe.sm_max_global_cycles =
      transfer_cycles(pipe.sm_max_kib, hardware.memory_bandwidth / sms, freq);
  pipe.sm_max_shared_cycles = pipe.sm_max_kib * kBytesPerKib / hardware.shared_bytes_per_cycle_sm;
  pipe.sm_max_local_cycles = transfer_cycles(pipe.sm_max_kib, hardware.l2_bandwidth / sms, freq);
  return pipe;
}

PipelineFeatures row_kernel_features(double fma_per_row, double xu_per_row, std::int64_t seq,
                                     std::int64_t dim, const HardwareSpec& hardware) {
  const std::int64_t rows_sm_max = ceil_div(seq, hardware.num_sms);
  const double rows = static_cast<double>(seq);
  const double busiest_rows = static_cast<double>(rows_sm_max);
  const std::int64_t row_bytes = checked_mul(dim, kBf16Bytes);
  PipelineFeatures features;
  features.fma = compute_pipe(fma_per_row * rows, fma_per_row * busiest_rows,
                              hardware.fma_ops_per_cycle_sm, hardware);
  features.xu = compute_pipe(xu_per_row * rows, xu_per_row * busiest_rows,
                             hardware.xu_ops_per_cycle_sm, hardware);
  features.memory = memory_pipe(static_cast<double>(checked_mul(row_bytes, seq)),
                                static_cast<double>(checked_mul(row_bytes, rows_sm_max)), hardware);
  return features;
}

TotalAndMax total_and_max(const std::vector<SmLoad>& loads, const TaskCost& cost) {
  SmLoad all;
  for (const SmLoad& load : loads) {
    all.tasks = checked_add(all.tasks, load.tasks);
    all.iterations = checked_add(all.iterations, load.iterations);
  }
  TotalAndMax result;
  result.total = checked_add(checked_mul(all.tasks, cost.fixed),
                             checked_mul(all.iterations, cost.per_iteration));
  for (const SmLoad& load : loads) {  // no SM exceeds the total
    result.sm_max =
        std::max(result.sm_max, load.tasks * cost.fixed + load.iterations * cost.per_iteration);
  }
  return result;
}

}  // namespace pw
