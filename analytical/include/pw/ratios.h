#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pw/attention.h"
#include "pw/gemm.h"
#include "pw/hardware_spec.h"
#include "pw/moe.h"
#include "pw/operand_copies.h"
#include "pw/rmsnorm.h"
#include "pw/silu_mul.h"

namespace pw {

// Inputs of `log_ratio` models: mostly logarithms of ratios between what limits a kernel and the
// roofline bound, so that they mean the same on every GPU. Formulas and their source:
// docs/method.md "Ratio features".
struct RatioFeatures {
  double bound_us = 0;         // the model's output is ln(duration_us / bound_us)
  std::vector<double> values;  // as the names of the family
  std::optional<ReusedOperand> reused = std::nullopt;  // of GEMM and attention: weights, context
};

using RatioNames = std::vector<std::string_view>;
const RatioNames& ratio_names(const GemmConfig*);       // 22
const RatioNames& ratio_names(const Fp8GemmConfig*);    // 28: those of gemm and six cycle counts
const RatioNames& ratio_names(const AttentionConfig*);  // 19
const RatioNames& ratio_names(const RmsNormConfig*);    // 10
const RatioNames& ratio_names(const SiluMulConfig*);    // 10
const RatioNames& ratio_names(const MoeConfig*);        // 26: the last two tell GPUs apart

// With as many `copies` of the operands as given, whatever the config says: a model is asked about
// what it was fitted on. Throws DataError when the hardware lacks a number that is needed
// (l2CacheSize).
RatioFeatures ratios(const GemmConfig&, double copies, const HardwareSpec&);
RatioFeatures ratios(const Fp8GemmConfig&, double copies, const HardwareSpec&);
RatioFeatures ratios(const AttentionConfig&, double copies, const HardwareSpec&);
// The same with the copies of the config.
RatioFeatures ratios(const GemmConfig&, const HardwareSpec&);
RatioFeatures ratios(const Fp8GemmConfig&, const HardwareSpec&);
RatioFeatures ratios(const AttentionConfig&, const HardwareSpec&);
RatioFeatures ratios(const RmsNormConfig&, const HardwareSpec&);
RatioFeatures ratios(const SiluMulConfig&, const HardwareSpec&);
RatioFeatures ratios(const MoeConfig&, const HardwareSpec&);

// What the features take from the requests of an attention problem: the same on every GPU, and the
// only part that costs time for each request.
struct AttentionSums {
  double tile = 0;         // rows of grouped queries in a query tile
  double queries = 0;      // new tokens
  double kv = 0;           // context tokens
  double pairs = 0;        // query-key pairs under the causal mask
  double query_tiles = 0;  // of `tile` rows
  double tile_reads = 0;   // KV tokens that all query tiles read, on average over the mask
  double longest_kv = 0;
};
AttentionSums sum_requests(const AttentionConfig&);
// `sums`: of this problem.
RatioFeatures ratios(const AttentionConfig&, const AttentionSums& sums, double copies,
                     const HardwareSpec&);

}  // namespace pw
