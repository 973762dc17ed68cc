#include "parallel_split.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "pw/fields.h"
#include "pw/int_math.h"

namespace pw {
namespace {

constexpr std::int64_t kVocabPadding = 64;
// Larger groups are not listed as possible.
constexpr std::int64_t kMaxListedRanks = 1024;

// Why `tp_size` ranks cannot share the layers, or an empty text.
std::string split_problem(const LayerGroup& group, std::int64_t tp_size, bool published_rules) {
  const auto named = [](std::string_view name, std::int64_t value) {
    return std::string(name) + " " + std::to_string(value);
  };
  const std::string by = " by " + std::to_string(tp_size);
  const AttentionShape& attention = group.attention;
  if (tp_size < 1) {
    return "it must be at least 1";
  }
  if (attention.heads % tp_size != 0) {
    return named("num_attention_heads", attention.heads) + " is not divisible" + by;
  }
  const std::int64_t kv_heads = attention.kv_heads;
  const bool replicated = tp_size > kv_heads && (published_rules || tp_size % kv_heads == 0);
  if (kv_heads % tp_size != 0 && !replicated) {
    return named("num_key_value_heads", kv_heads) + " is neither divisible by nor a divisor of " +
           std::to_string(tp_size);
  }
  if (group.mlp.width % tp_size != 0) {
    return named("intermediate_size", group.mlp.width) + " is not divisible" + by;
  }
  const std::int64_t qkv_width = checked_mul(attention.heads + 2 * kv_heads, attention.head_dim);
  if (published_rules && qkv_width % tp_size != 0) {
    return named("qkv_proj width", qkv_width) + " is not divisible" + by;
  }
  return {};
}

std::string split_problem(const ModelConfig& model, std::int64_t tp_size, bool published_rules) {
  for (const LayerGroup& group : model.layers) {
    std::string problem = split_problem(group, tp_size, published_rules);
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string possible_tp_sizes(const ModelConfig& model, bool published_rules) {
  std::string list = "1";
  const std::int64_t most = std::min(model.layers.front().attention.heads, kMaxListedRanks);
  for (std::int64_t tp = 2; tp <= most; ++tp) {
    if (split_problem(model, tp, published_rules).empty()) {
      list += ", " + std::to_string(tp);
    }
  }
  return list;
}

RankShape rank_shape(const LayerGroup& group, std::int64_t tp_size, bool published_rules) {
  const AttentionShape& attention = group.attention;
  const std::int64_t kv_heads = attention.kv_heads;
  RankShape rank;
  rank.query_heads = attention.heads / tp_size;
  rank.mlp_width = group.mlp.width / tp_size;
  if (published_rules) {
    rank.kv_heads = kv_heads >= tp_size ? kv_heads / tp_size : kv_heads;
    rank.qkv_width = checked_mul(attention.heads + 2 * kv_heads, attention.head_dim) / tp_size;
  } else {
    rank.kv_heads = ceil_div(kv_heads, tp_size);
    rank.qkv_width = checked_mul(rank.query_heads + 2 * rank.kv_heads, attention.head_dim);
  }
  return rank;
}

}  // namespace

std::vector<RankShape> split_over_ranks(const ModelConfig& model, std::int64_t tp_size,
                                        bool published_rules) {
  const std::string problem = split_problem(model, tp_size, published_rules);
  if (!problem.empty()) {
    throw DataError("tp_size " + std::to_string(tp_size) + " is not possible for " + model.stem +
                    ": " + problem + "; valid tp_size values are " +
                    possible_tp_sizes(model, published_rules));
  }
  std::vector<RankShape> ranks;
  for (const LayerGroup& group : model.layers) {
    ranks.push_back(rank_shape(group, tp_size, published_rules));
  }
  return ranks;
}

std::int64_t vocab_per_rank(std::int64_t vocab_size, std::int64_t tp_size) {
  return tp_size == 1 ? vocab_size : ceil_div(round_up(vocab_size, kVocabPadding), tp_size);
}

std::vector<std::int64_t> split_into_stages(std::int64_t layers, std::int64_t pp_size) {
  if (pp_size < 1) {
    throw DataError("pp_size " + std::to_string(pp_size) +
                    " is not possible: it must be at least 1");
  }
  if (pp_size > layers) {
    throw DataError("pp_size " + std::to_string(pp_size) + " > num_hidden_layers " +
                    std::to_string(layers) + ": every pipeline stage needs a layer");
  }
  std::vector<std::int64_t> stages(static_cast<std::size_t>(pp_size), layers / pp_size);
  for (std::size_t stage = 0; stage < static_cast<std::size_t>(layers % pp_size); ++stage) {
    ++stages[stage];
  }
  return stages;
}

}  // namespace pw
