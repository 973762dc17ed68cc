#pragma once

#include <cstdint>
#include <vector>

#include "pw/model_config.h"

namespace pw {

// What one tensor-parallel rank holds of a layer.
struct RankShape {
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t qkv_width = 0;  // columns of qkv_proj
  std::int64_t mlp_width = 0;
};

// By group of layers. Throws DataError that names the first dimension that tp_size does not divide
// and lists the tp_size values that are possible.
std::vector<RankShape> split_over_ranks(const ModelConfig& model, std::int64_t tp_size,
                                        bool published_rules);

// Rows of the vocabulary on one rank: engines pad it to a multiple of 64 before they shard it.
std::int64_t vocab_per_rank(std::int64_t vocab_size, std::int64_t tp_size);

// Layers of each pipeline stage: all layers, sizes that differ by one at most, larger stages first.
// Throws DataError when a stage would have no layer.
std::vector<std::int64_t> split_into_stages(std::int64_t layers, std::int64_t pp_size);

}  // namespace pw
