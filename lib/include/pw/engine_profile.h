#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pw/elementwise.h"
#include "pw/hardware_spec.h"
#include "pw/model_config.h"
#include "pw/step.h"

namespace pw {

// What one version of a serving engine adds to the kernels of the model, from
// config/engines/<engine>.json (config/README.md has the keys).
struct EngineProfile {
  std::string name;                  // "sglang", "vllm"
  std::string version;               // "0.4"
  std::string released;              // year and month, "2024-12"
  double host_us_per_iteration = 0;  // GPU idle while the host prepares and finishes an iteration
  // Largest all_reduce that runs on the engine's own kernel instead of NCCL; 0 = none.
  std::int64_t custom_all_reduce_max_bytes = 0;
  double small_kernel_floor_us = kElementwiseFloorUs;  // the least that one of its kernels takes
  std::string source;                                  // of these numbers
  // Names of engine_operators that are not counted: those that it fuses into other kernels, and
  // those that the user leaves out.
  std::set<std::string> left_out;

  std::string described() const { return name + " " + version; }
};

// `engine`: a name for its newest version, or "vllm@0.5". Throws UsageError that lists the engines
// of the folder, or the versions of the engine.
EngineProfile read_engine_profile(const std::filesystem::path& folder, const std::string& engine);

// One line of an iteration that is neither a matrix product nor attention.
struct EngineOperator {
  std::string_view name;
  double single_us = 0;
  std::int64_t count = 0;
};

// The names that engine_operators may give, for options and messages.
const std::vector<std::string_view>& engine_operator_names();

// Memory-bound kernels between the large ones (elementwise_us of the bytes that they move, bf16),
// and the host time. Per layer: rope (of rotary positions), kv_store, qk_norm where the model has
// it, kv_merge in decode; once: embedding, logits (conversion and sampling over the whole
// vocabulary), host.
std::vector<EngineOperator> engine_operators(const ModelConfig& model, const Step& step,
                                             const HardwareSpec& hardware,
                                             const EngineProfile& engine);

}  // namespace pw
