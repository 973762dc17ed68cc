#pragma once

#include <cstdint>

#include "pw/model_config.h"

namespace pw {

// A small invented model with `kv_heads` KV heads for 16 query heads, tp sizes 1 to 16.
inline ModelConfig demo_model(std::int64_t kv_heads = 2) {
  ModelConfig model;
  model.stem = "Demo";
  model.architecture = "DemoForCausalLM";
  model.hidden_size = 2048;
  model.vocab_size = 32000;
  model.layers = {{4, {16, kv_heads, 128}, {5632}}};
  return model;
}

// Dimensions of the published Qwen/Qwen2.5-14B.
inline ModelConfig qwen2_5_14b() {
  ModelConfig model;
  model.stem = "Qwen2.5-14B";
  model.architecture = "Qwen2ForCausalLM";
  model.hidden_size = 5120;
  model.vocab_size = 152064;
  model.layers = {{48, {40, 8, 128}, {13824}}};
  return model;
}

}  // namespace pw
