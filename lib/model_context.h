#pragma once

#include <cstdint>
#include <optional>

#include "model_json.h"

namespace pw {

// Tokens that a model can attend to: max_position_embeddings or what other families call it,
// stretched by rope_scaling where the method does so. Absent when the file does not tell.
std::optional<std::int64_t> max_context(const ModelJson& model);

// The window of the layers that attend to the last tokens only, when it is in use and shorter than
// max_context. `layers` gets how many of the `num_layers` use it.
struct SlidingWindow {
  std::int64_t tokens = 0;
  std::int64_t layers = 0;
};
std::optional<SlidingWindow> sliding_window(const ModelJson& model, std::int64_t num_layers);

}  // namespace pw
