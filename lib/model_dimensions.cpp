#include "model_dimensions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace pw {
namespace {

// Larger dimensions are nonsense, and products of two of these fit in 64 bits.
constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int32_t>::max();

// A dimension under its usual name and those of other families.
struct Dimension {
  std::string_view name;
  std::vector<std::string_view> other_names;
};

const Dimension kHiddenSize{"hidden_size", {"d_model", "n_embd", "model_dim"}};
const Dimension kHeads{"num_attention_heads",
                       {"n_head", "n_heads", "num_heads", "num_query_heads"}};
const Dimension kKvHeads{"num_key_value_heads",
                         {"num_kv_heads", "n_kv_heads", "n_head_kv", "multi_query_group_num",
                          "num_query_groups", "num_key_value_heads_per_layer"}};
const Dimension kHeadDim{"head_dim", {"kv_channels", "attention_head_dim", "head_size"}};
const Dimension kIntermediateSize{"intermediate_size", {"ffn_hidden_size", "ffn_dim", "d_ff"}};
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

 private:
  std::int64_t value(std::string_view key) const {
    const auto found = model_.decoder.find(std::string(key));
    const bool list = found != model_.decoder.end() && found->is_array();
    const std::int64_t number = list ? same_in_all_layers(key) : integer_at_least(fields_, key, 1);
    if (number <= kMaxDimension) return number;
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
std::int64_t head_dim(DimensionReader& reader, const ModelConfig& config) {
  if (const auto given = reader.find(kHeadDim)) return *given;
  if (config.hidden_size % config.num_attention_heads != 0) {
    throw DataError(reader.where("head_dim") + " is absent and hidden_size " +
                    std::to_string(config.hidden_size) + " is no multiple of num_attention_heads " +
                    std::to_string(config.num_attention_heads) + ": give head_dim");
  }
  return config.hidden_size / config.num_attention_heads;
}

// Lists of one value per layer that nothing above reads.
void refuse_lists_per_layer(const ModelJson& model) {
  for (const auto& [key, value] : model.decoder.items()) {
    constexpr std::string_view kEnd = "_per_layer";
    const bool per_layer =
        key.size() > kEnd.size() && key.compare(key.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
    if (!per_layer || !value.is_array() || value.empty()) continue;
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
  DimensionReader reader(model, config.facts);
  config.hidden_size = reader.require(kHiddenSize);
  config.num_attention_heads = reader.require(kHeads);
  config.num_key_value_heads = reader.find(kKvHeads).value_or(config.num_attention_heads);
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    throw DataError(reader.where("num_key_value_heads") + " is " +
                    std::to_string(config.num_key_value_heads) +
                    ", expected a divisor of num_attention_heads " +
                    std::to_string(config.num_attention_heads));
  }
  config.head_dim = head_dim(reader, config);
  config.intermediate_size = reader.require(kIntermediateSize);
  config.vocab_size = reader.require(kVocabSize);
  config.num_hidden_layers = reader.require(kLayers);
}

}  // namespace pw
