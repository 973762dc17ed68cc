#include "model_context.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pw {
namespace {

// A whole number of at least 1, as far as it is one; limits that are no limits (1e30) are none.
std::optional<std::int64_t> count_in(const Json& object, std::string_view key) {
  const Json* value = find_set(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  if (!(number >= 1) || number > kMost) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// By which factor rope_scaling lengthens the positions that the file gives. Llama 3 and LongRoPE
// files give the lengthened ones.
double stretch(const Json& scaling) {
  std::string method = string_or_empty(find_set(scaling, "rope_type"));
  if (method.empty()) method = string_or_empty(find_set(scaling, "type"));
  if (method == "llama3" || method == "longrope" || method == "su" || method == "default") return 1;
  const Json* factor = find_set(scaling, "factor");
  return factor != nullptr && factor->is_number() && factor->get<double>() >= 1
             ? factor->get<double>()
             : 1;
}

}  // namespace

std::optional<std::int64_t> max_context(const ModelJson& model) {
  std::optional<std::int64_t> positions;
  for (const char* key : {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
                          "max_sequence_length", "model_max_length", "max_seq_length"}) {
    positions = count_in(model.decoder, key);
    if (positions) break;
  }
  if (!positions) return std::nullopt;
  const Json* scaling = find_set(model.decoder, "rope_scaling");
  if (scaling == nullptr) scaling = find_set(model.decoder, "rope_parameters");
  if (scaling == nullptr || !scaling->is_object()) return positions;
  const std::int64_t original =
      count_in(*scaling, "original_max_position_embeddings").value_or(*positions);
  const double stretched = static_cast<double>(original) * stretch(*scaling);
  return std::max(*positions, static_cast<std::int64_t>(std::min(
                                  stretched, double{std::numeric_limits<std::int32_t>::max()})));
}

std::optional<SlidingWindow> sliding_window(const ModelJson& model, std::int64_t num_layers) {
  const auto window = count_in(model.decoder, "sliding_window");
  const Json* use = find_set(model.decoder, "use_sliding_window");
  const auto longest = max_context(model);
  if (!window || (use != nullptr && !is_set(*use)) || (longest && *window >= *longest)) {
    return std::nullopt;
  }
  std::int64_t layers = num_layers;
  if (const Json* types = find_set(model.decoder, "layer_types"); types && types->is_array()) {
    layers = std::count(types->begin(), types->end(), "sliding_attention");
  } else if (const auto pattern = count_in(model.decoder, "sliding_window_pattern")) {
    layers = num_layers - num_layers / *pattern;  // each pattern-th layer attends to everything
  } else if (use != nullptr) {
    // Qwen2: so many layers at the start attend to everything.
    layers = std::max<std::int64_t>(
        0, num_layers - count_in(model.decoder, "max_window_layers").value_or(0));
  }
  if (layers == 0) return std::nullopt;
  return SlidingWindow{*window, layers};
}

}  // namespace pw
