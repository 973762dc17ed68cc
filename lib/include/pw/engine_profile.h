#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pw/hardware_spec.h"
#include "pw/model_config.h"
#include "pw/step.h"

namespace pw {

// What a serving engine adds to the kernels of the model, from config/engines/profiles.json.
struct EngineProfile {
  std::string name;                  // "sglang", "vllm"
  double host_us_per_iteration = 0;  // GPU idle while the host prepares and finishes an iteration
  // Largest all_reduce that runs on the engine's own kernel instead of NCCL; 0 = none.
  std::int64_t custom_all_reduce_max_bytes = 0;
  std::string source;              // of these numbers
  std::set<std::string> left_out;  // names of engine_operators that are not counted
};

// Throws DataError that lists the known engines.
EngineProfile read_engine_profile(const std::filesystem::path& path, const std::string& name);

// One line of an iteration that is neither a matrix product nor attention.
struct EngineOperator {
  std::string_view name;
  double single_us = 0;
  std::int64_t count = 0;
};

// The names that engine_operators may give, for options and messages.
const std::vector<std::string_view>& engine_operator_names();

// Memory-bound kernels between the large ones (elementwise_us of the bytes that they move, bf16),
// and the host time. Per layer: rope, kv_store, qk_norm where the model has it, kv_merge in decode;
// once: embedding, logits (conversion and sampling over the whole vocabulary), host.
std::vector<EngineOperator> engine_operators(const ModelConfig& model, const Step& step,
                                             const HardwareSpec& hardware,
                                             const EngineProfile& engine);

}  // namespace pw
