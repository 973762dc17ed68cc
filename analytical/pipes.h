#pragma once

#include <cstdint>
#include <vector>

#include "pw/features.h"
#include "pw/hardware_spec.h"

namespace pw {

// `all_ops` on the whole GPU and `sm_max_ops` on its busiest SM, at `ops_per_cycle_sm`.
ComputePipe compute_pipe(double all_ops, double sm_max_ops, double ops_per_cycle_sm,
                         const HardwareSpec& hardware);

// Bytes loaded by the whole GPU and by its busiest SM.
MemoryPipe memory_pipe(double all_bytes, double sm_max_bytes, const HardwareSpec& hardware);

// A kernel with one CTA per row of `dim` bf16 values, `seq` rows: what its FMA and XU pipes and its
// loads amount to when one row costs `fma_per_row` and `xu_per_row` operations.
PipelineFeatures row_kernel_features(double fma_per_row, double xu_per_row, std::int64_t seq,
                                     std::int64_t dim, const HardwareSpec& hardware);

// What attention kernels put on the SMs: each task is one CTA work item with a number of KV
// iterations; ops and bytes are affine in that number, so counts of tasks and iterations suffice.
struct SmLoad {
  std::int64_t tasks = 0;
  std::int64_t iterations = 0;
};

// A quantity of `n` iterations of one task: fixed + n * per_iteration.
struct TaskCost {
  std::int64_t fixed = 0;
  std::int64_t per_iteration = 0;
};

// Sum over all tasks of all SMs, and the largest sum of one SM.
struct TotalAndMax {
  std::int64_t total = 0;
  std::int64_t sm_max = 0;
};
TotalAndMax total_and_max(const std::vector<SmLoad>& loads, const TaskCost& cost);

}  // namespace pw
