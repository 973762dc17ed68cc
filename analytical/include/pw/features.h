#pragma once

#include <string_view>
#include <vector>

namespace pw {

// One compute pipe (tensor, FMA or XU): operations and cycles on the whole GPU and on its busiest
// SM. Cycles are SM clocks.
struct ComputePipe {
  double all_ops = 0;
  double all_cycles = 0;
  double sm_max_ops = 0;
  double sm_max_cycles = 0;
};

// Loads from DRAM through L2 (`local`) and shared memory, on the whole GPU and on its busiest SM.
struct MemoryPipe {
  double global_kib = 0;
  double global_cycles = 0;
  double local_cycles = 0;
  double sm_max_kib = 0;
  double sm_max_global_cycles = 0;
  double sm_max_shared_cycles = 0;
  double sm_max_local_cycles = 0;
};

// An operator fills two or three pipes and leaves the others at zero.
struct PipelineFeatures {
  ComputePipe tensor;
  ComputePipe fma;
  ComputePipe xu;
  MemoryPipe memory;
};

// A feature under its published dataset column name.
struct Feature {
  std::string_view name;
  double (*of)(const PipelineFeatures&);
};

using FeatureTable = std::vector<Feature>;

// The published feature lists in model-input order.
const FeatureTable& tensor_memory_features();     // gemm, gemm_fp8, moe: 11
const FeatureTable& tensor_xu_memory_features();  // attn: 15
const FeatureTable& fma_xu_memory_features();     // rmsnorm, siluandmul: 15

}  // namespace pw
