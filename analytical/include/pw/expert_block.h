#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/expert_routing.h"
#include "pw/family.h"
#include "pw/features.h"
#include "pw/fields.h"
#include "pw/hardware_spec.h"
#include "pw/ratios.h"
#include "pw/work.h"

namespace pw {

// Number formats of the experts' weights and activations, named as in the tables.
enum class ExpertType {
  bfloat16,
  fp8,
  fp8_block,         // scales per 128 x 128 weights
  int4_wo,           // 4-bit weights with a 16-bit scale per 128, 16-bit activations
  nvfp4,             // 4-bit weights and activations with an 8-bit scale per 16
  w4a16_mxfp4,       // 4-bit weights with an 8-bit scale per 32, 16-bit activations
  w4a8_mxfp4_mxfp8,  // the same weights, 8-bit activations
  w4afp8,            // the weights of int4_wo, fp8 activations
};
std::string_view to_string(ExpertType type);
ExpertType parse_expert_type(std::string_view name, const std::string& where);  // or DataError

struct ExpertFormat {
  double weight_bytes;      // per element, scales included
  double activation_bytes;  // the same, of what a GEMM reads
  Element tensor;
};
ExpertFormat expert_format(ExpertType type);

// The fused expert block of a mixture-of-experts layer on one rank: choice of the experts, sort,
// gate and up GEMM, activation, down GEMM and weighted sum, over all experts that the batch hits.
// Without the router's GEMM, shared experts and communication.
struct ExpertBlockConfig {
  static constexpr std::string_view kName = "expert_block";
  static constexpr std::array<std::string_view, 11> kProblemColumns{
      "dtype", "M", "E", "topk", "H", "I", "tp", "ep", "gated", "routing", "distribution"};

  // Reads the columns above; kernel_source, and the statistics as moe_routing_stats.csv names them
  // (slots_on_rank, experts_hit, largest_count, tokens_on_rank, padded_8 ... padded_256), if the
  // record has them.
  static ExpertBlockConfig read(const Fields& fields);

  ExpertType type = ExpertType::bfloat16;  // dtype
  std::int64_t rows = 0;                   // M, tokens of the rank's batch before routing
  std::int64_t experts = 0;                // E, of the model: the rank holds E / ep
  std::int64_t top_k = 0;                  // topk
  std::int64_t hidden = 0;                 // H
  std::int64_t intermediate = 0;           // I, per expert of the model: the rank holds I / tp
  std::int64_t tensor_parallel = 1;        // tp, of the experts
  std::int64_t expert_parallel = 1;        // ep
  bool gated = true;                       // two matrices before the activation, else one
  ExpertRouting routing;                   // routing (plain, grouped) and distribution
  std::string kernel;                      // kernel_source; no feature depends on it
  std::optional<RoutingStatistics> statistics = std::nullopt;  // absent: computed from routing

  static constexpr bool kHasPipelines = false;
  static const FeatureTable& features();  // none
  static constexpr std::array<Number<ExpertBlockConfig>, 7> kNumbers{
      {{"M", &ExpertBlockConfig::rows, 1},
       {"E", &ExpertBlockConfig::experts, 1},
       {"topk", &ExpertBlockConfig::top_k, 1},
       {"H", &ExpertBlockConfig::hidden, 1},
       {"I", &ExpertBlockConfig::intermediate, 1},
       {"tp", &ExpertBlockConfig::tensor_parallel, 1},
       {"ep", &ExpertBlockConfig::expert_parallel, 1}}};
  std::int64_t tokens() const { return rows; }
  std::string described() const;
  std::vector<std::string> cells() const;
  template <class Hash>
  void add_rest(Hash& hash) const {
    hash.add(static_cast<std::int64_t>(type));
    hash.add(std::int64_t{gated});
    hash.add(static_cast<std::int64_t>(routing.distribution));
    hash.add(routing.exponent);
    hash.add(std::int64_t{routing.grouped});
    for (const char c : kernel) hash.add(std::int64_t{c});
    if (!statistics) return;
    for (const double number :
         {statistics->rows, statistics->experts_hit, statistics->largest, statistics->tokens}) {
      hash.add(number);
    }
    for (const double number : statistics->padded) hash.add(number);
  }
};

// Throws DataError for a block that has no meaning.
void check(const ExpertBlockConfig& block);

// The statistics of the config; else those of its routing. A power law takes milliseconds then.
RoutingStatistics routing_statistics(const ExpertBlockConfig& block);

// The arithmetic without padding; the weights of the experts hit, the rows read of tokens with a
// local expert, and the result of every token, once.
Work work(const ExpertBlockConfig& block);
Work work(const ExpertBlockConfig& block, const RoutingStatistics& statistics);

// What the features take from a GPU: nominal rates of the whole GPU, or sustained ones for a model
// fitted on those.
struct ExpertBlockRates {
  double sms = 0;
  double bf16_ops_per_us = 0;
  double fp8_ops_per_us = 0;  // 0: the GPU has none and multiplies these types in bf16,
  double fp4_ops_per_us = 0;  // as weight-only kernels do
  double dram_bytes_per_us = 0;
  double l2_bytes_per_us = 0;
  double l2_bytes = 0;

  double ops_per_us(Element tensor) const;
};

// Nominal rates. Throws DataError without l2CacheSize.
ExpertBlockRates expert_block_rates(const HardwareSpec& hardware);

// 48 features. Most are logarithms of a time by the bound: the larger of multiplying, of reading
// the weights hit, and of half the activations' traffic. Source: spec/moe.md section 3.2.
const RatioNames& ratio_names(const ExpertBlockConfig*);
RatioFeatures ratios(const ExpertBlockConfig& block, const HardwareSpec& hardware);
RatioFeatures ratios(const ExpertBlockConfig& block, const ExpertBlockRates& rates);
RatioFeatures ratios(const ExpertBlockConfig& block, const RoutingStatistics& statistics,
                     const ExpertBlockRates& rates);

}  // namespace pw
