#pragma once

#include <cstdint>

#include "pw/workload.h"

namespace pw {

// Device memory that a workload needs on its most loaded rank, bf16. Activations and the engine's
// own buffers are not counted.
struct MemoryFootprint {
  std::int64_t weight_bytes = 0;
  std::int64_t kv_cache_bytes = 0;  // at the iteration with the longest total context
};

// Whether both fit a GPU of this memory; true when that is not known (0).
bool fits(const MemoryFootprint& memory, std::int64_t gpu_memory_bytes);

// Weights: embedding and lm_head (once if tied), projections and norms of the largest pipeline
// stage, sharded over tp. KV: 2 * layers * kv heads per rank * head_dim * 2 bytes per token.
MemoryFootprint memory_footprint(const Workload& workload);
// `longest_total_context`: the largest sum of an iteration's kv_lengths.
MemoryFootprint memory_footprint(const ModelConfig& model, std::int64_t tp_size,
                                 std::int64_t pp_size, std::int64_t longest_total_context);

}  // namespace pw
