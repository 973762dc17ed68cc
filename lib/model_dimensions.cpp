#include "model_dimensions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "decoder_layouts.h"

namespace pw {
namespace {

// Larger dimensions are nonsense, and products of two of these fit in 64 bits.
constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int32_t>::max();

// A dimension under its usual name and those of other families.
struct Dimension {
  std::string_view name;
  std::vector<std::string_view> other_names;
};

const Dimension kHiddenSize{"hidden_size", {"d_model", "n_embd", "n_embed", "model_dim"}};
const Dimension kHeads{"num_attention_heads",
                       {"n_head", "n_heads", "num_heads", "num_query_heads"}};
const Dimension kKvHeads{"num_key_value_heads",
                         {"num_kv_heads", "n_kv_heads", "n_head_kv", "multi_query_group_num",
                          "num_query_groups", "num_key_value_heads_per_layer"}};
const Dimension kHeadDim{"head_dim", {"kv_channels", "attention_head_dim", "head_size"}};
const Dimension kIntermediateSize{"intermediate_size",
                                  {"ffn_hidden_size", "ffn_dim", "d_ff", "n_inner"}};
const Dimension kVocabSize{"vocab_size", {"padded_vocab_size", "n_vocab"}};
const Dimension kLayers{"num_hidden_layers", {"n_layer", "n_layers", "num_layers"}};

class DimensionReader {
 public:
  DimensionReader(const ModelJson& model, Facts& facts)
      : model_(model), fields_(model.decoder, model.decoder_where), facts_(facts) {}

  // Nothing when the file has it under no name, or as null.
  std::optional<std::int64_t> find(const Dimension& dimension) {
    std::string_view used;
    if (fields_.has(dimension.name)) used = dimension.name;
    for (const std::string_view other : dimension.other_names) {
      if (!fields_.has(other)) continue;
      if (used.empty()) {
        used = other;
        facts_.add({FactKind::alternative_key,
                    std::string(other) + " is read as " + std::string(dimension.name),
                    {{"key", std::string(other)}, {"read_as", std::string(dimension.name)}}});
      } else if (model_.decoder.at(std::string(other)) != model_.decoder.at(std::string(used))) {
        facts_.add({FactKind::conflicting_keys,
                    std::string(used) + " and " + std::string(other) +
                        " differ: " + std::string(used) + " is used",
                    {{"used", std::string(used)}, {"other", std::string(other)}}});
      }
    }
    if (used.empty()) return std::nullopt;
    return value(used);
  }

  std::int64_t require(const Dimension& dimension) {
    const auto found = find(dimension);
    return found ? *found : value(dimension.name);  // which says that it is missing
  }

  std::string where(std::string_view name) const { return fields_.where(name); }

  // A list with one value per layer, which may differ.
  std::vector<std::int64_t> per_layer(std::string_view key, std::int64_t layers) const {
    std::vector<std::int64_t> values = fields_.integers(key);
    if (static_cast<std::int64_t>(values.size()) != layers) {
      throw DataError(fields_.where(key) + " has " + std::to_string(values.size()) +
                      " values, expected one for each of " + std::to_string(layers) + " layers");
    }
    for (const std::int64_t value : values) {
      if (value < 1) {
        throw DataError(fields_.where(key) + " holds " + std::to_string(value) +
                        ", expected at least 1 (" + model_.described() + ")");
      }
      check_size(key, value);
    }
    return values;
  }

 private:
  std::int64_t value(std::string_view key) const {
    const auto found = model_.decoder.find(std::string(key));
    const bool list = found != model_.decoder.end() && found->is_array();
    const std::int64_t number = list ? same_in_all_layers(key) : integer_at_least(fields_, key, 1);
    check_size(key, number);
    return number;
  }

  void check_size(std::string_view key, std::int64_t number) const {
    if (number <= kMaxDimension) return;
    throw DataError(fields_.where(key) + " is " + std::to_string(number) + ", expected at most " +
                    std::to_string(kMaxDimension));
  }

  // The one value of a list that has an entry per layer.
  std::int64_t same_in_all_layers(std::string_view key) const {
    const std::vector<std::int64_t> values = fields_.integers(key);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (values.empty() || *least != *most || *least < 1) {
      const std::string range =
          values.empty() ? "no values"
                         : "values from " + std::to_string(*least) + " to " + std::to_string(*most);
      throw DataError(fields_.where(key) + " is a list with " + range + ", one per layer (" +
                      model_.described() + "); expected one number of at least 1 for all layers");
    }
    return *least;
  }

  const ModelJson& model_;
  JsonFields fields_;
  Facts& facts_;
};

// head_dim as given, else the exact quotient.
std::int64_t head_dim(DimensionReader& reader, std::int64_t hidden_size, std::int64_t heads) {
  if (const auto given = reader.find(kHeadDim)) return *given;
  if (hidden_size % heads != 0) {
    throw DataError(reader.where("head_dim") + " is absent and hidden_size " +
                    std::to_string(hidden_size) + " is no multiple of num_attention_heads " +
                    std::to_string(heads) + ": give head_dim");
  }
  return hidden_size / heads;
}

constexpr std::string_view kKvHeadsPerLayer = "num_key_value_heads_per_layer";

// KV heads of each layer as (value, how many layers), in order of first appearance.
std::vector<std::pair<std::int64_t, std::int64_t>> kv_heads(DimensionReader& reader,
                                                            const ModelJson& model,
                                                            const DecoderLayout* layout,
                                                            std::int64_t heads,
                                                            std::int64_t layers) {
  std::vector<std::pair<std::int64_t, std::int64_t>> groups;
  if (layout != nullptr && layout->kv_heads != nullptr) {
    if (const auto told = layout->kv_heads(model)) return {{*told, layers}};
  }
  const Json* list = find_set(model.decoder, kKvHeadsPerLayer);
  const bool differ = list != nullptr && list->is_array() &&
                      std::any_of(list->begin(), list->end(),
                                  [&](const Json& value) { return value != list->front(); });
  if (!differ || find_set(model.decoder, kKvHeads.name) != nullptr) {
    return {{reader.find(kKvHeads).value_or(heads), layers}};
  }
  for (const std::int64_t value : reader.per_layer(kKvHeadsPerLayer, layers)) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == value; });
    if (same == groups.end()) {
      groups.emplace_back(value, 1);
    } else {
      ++same->second;
    }
  }
  return groups;
}

// Lists of one value per layer that nothing above reads.
void refuse_lists_per_layer(const ModelJson& model) {
  for (const auto& [key, value] : model.decoder.items()) {
    constexpr std::string_view kEnd = "_per_layer";
    const bool per_layer =
        key.size() > kEnd.size() && key.compare(key.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
    if (!per_layer || !value.is_array() || value.empty() || key == kKvHeadsPerLayer) continue;
    if (std::any_of(value.begin(), value.end(),
                    [&first = value.front()](const Json& entry) { return entry != first; })) {
      throw DataError(JsonFields(model.decoder, model.decoder_where).where(key) +
                      " has different values (" + model.described() +
                      "): layers that differ from each other are not supported");
    }
  }
}

}  // namespace

void read_dimensions(const ModelJson& model, ModelConfig& config) {
  refuse_lists_per_layer(model);
  const DecoderLayout* layout = find_layout(model);
  Facts own_names;  // a family's own names are no alternatives
  DimensionReader reader(model, layout != nullptr ? own_names : config.facts);
  config.hidden_size = reader.require(kHiddenSize);
  LayerGroup shape;
  const std::int64_t heads = reader.require(kHeads);
  shape.attention.heads = heads;
  shape.attention.head_dim = head_dim(reader, config.hidden_size, heads);
  if (layout != nullptr && layout->wide_mlp) {
    shape.mlp.width = reader.find(kIntermediateSize).value_or(4 * config.hidden_size);
  } else {
    shape.mlp.width = reader.require(kIntermediateSize);
  }
  config.vocab_size = reader.require(kVocabSize);
  const std::int64_t layers = reader.require(kLayers);
  for (const auto& [kv, count] : kv_heads(reader, model, layout, heads, layers)) {
    if (heads % kv != 0) {
      throw DataError(reader.where("num_key_value_heads") + " is " + std::to_string(kv) +
                      ", expected a divisor of num_attention_heads " + std::to_string(heads));
    }
    shape.attention.kv_heads = kv;
    shape.count = count;
    config.layers.push_back(shape);
  }
  if (layout != nullptr) {
    layout->finish(model, config);
  } else {
    finish_llama_like(model, config);
  }
}

}  // namespace pw
