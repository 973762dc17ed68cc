#include "pw/gemm.h"

#include <algorithm>

#include "pipes.h"
#include "pw/int_math.h"
#include "pw/operators.h"
#include "pw/work.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;
constexpr std::int64_t kFp8Bytes = 1;

// The problem padded to whole tiles, and what it loads when every operand is read once.
struct PaddedGemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t tiles = 0;

  double ops() const { return static_cast<double>(checked_mul(2, m, n, k)); }
  double bytes(std::int64_t element_bytes) const {
    return static_cast<double>(checked_mul(element_bytes, checked_add(m, n), k));
  }
};

PaddedGemm pad(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t tile_m,
               std::int64_t tile_n, std::int64_t tile_k) {
  if (std::min({m, n, k, tile_m, tile_n, tile_k}) < 1) {
    throw DataError("M, N, K and the tile sizes of a GEMM must be at least 1");
  }
  const std::int64_t tiles_m = ceil_div(m, tile_m);
  const std::int64_t tiles_n = ceil_div(n, tile_n);
  return {checked_mul(tiles_m, tile_m), checked_mul(tiles_n, tile_n), round_up(k, tile_k),
          checked_mul(tiles_m, tiles_n)};
}

// One CTA's main loop over `depth` of K, repeated `times` on the busiest SM.
struct BusiestSm {
  double ops = 0;
  double bytes = 0;
};
BusiestSm busiest_sm(std::int64_t tile_m, std::int64_t tile_n, std::int64_t depth,
                     std::int64_t times, std::int64_t element_bytes) {
  return {
      static_cast<double>(checked_mul(2, tile_m, tile_n, depth, times)),
      static_cast<double>(checked_mul(element_bytes, checked_add(tile_m, tile_n), depth, times))};
}

PipelineFeatures gemm_features(double all_ops, double all_bytes, const BusiestSm& busiest,
                               double ops_per_cycle_sm, const HardwareSpec& hardware) {
  PipelineFeatures features;
  features.tensor = compute_pipe(all_ops, busiest.ops, ops_per_cycle_sm, hardware);
  features.memory = memory_pipe(all_bytes, busiest.bytes, hardware);
  return features;
}

// K of one slice when `cta_count` CTAs share `tiles` tiles.
std::int64_t slice_depth(const PaddedGemm& padded, const GemmTile& tile) {
  const std::int64_t slices = std::max<std::int64_t>(1, tile.cta_count / padded.tiles);
  return round_up(ceil_div(padded.k, slices), tile.k);
}

}  // namespace

GemmConfig GemmConfig::read(const Fields& fields) {
  GemmConfig gemm;
  read_numbers(fields, gemm);
  if (fields.has("tile_M")) {
    gemm.tile =
        GemmTile{integer_at_least(fields, "tile_M", 1), integer_at_least(fields, "tile_N", 1),
                 integer_at_least(fields, "tile_K", 1), integer_at_least(fields, "cta_count", 1),
                 fields.flag("is_split_k")};
  }
  gemm.weight_copies = copies_or(gemm.weight_copies, fields);
  return gemm;
}

Fp8GemmConfig Fp8GemmConfig::read(const Fields& fields) {
  Fp8GemmConfig gemm;
  read_numbers(fields, gemm);
  if (fields.has("tile_M")) {
    gemm.tile_m = integer_at_least(fields, "tile_M", 1);
    gemm.tile_n = integer_at_least(fields, "tile_N", 1);
    gemm.tile_k = integer_at_least(fields, "tile_K", 1);
  }
  gemm.weight_copies = copies_or(gemm.weight_copies, fields);
  return gemm;
}

PipelineFeatures analyze(const GemmConfig& gemm, const HardwareSpec& hardware,
                         const AnalysisOptions& options) {
  const GemmTile tile =
      gemm.tile ? *gemm.tile : choose_gemm_tile(gemm, options.gemm_tile, hardware);
  const PaddedGemm padded = pad(gemm.m, gemm.n, gemm.k, tile.m, tile.n, tile.k);
  if (tile.cta_count < 1) {
    throw DataError("cta_count of a GEMM must be at least 1");
  }
  double all_ops = padded.ops();
  BusiestSm busiest;
  if (hardware.gemm_rules == GemmRules::sm80) {
    const std::int64_t waves = ceil_div(tile.cta_count, hardware.num_sms);
    busiest = busiest_sm(tile.m, tile.n, slice_depth(padded, tile), waves, kBf16Bytes);
  } else if (tile.split_k) {
    busiest = busiest_sm(tile.m, tile.n, slice_depth(padded, tile), 1, kBf16Bytes);
  } else {
    // Persistent CTAs: each takes tile after tile; surplus CTAs count as repeated work.
    all_ops *=
        std::max(1.0, static_cast<double>(tile.cta_count) / static_cast<double>(padded.tiles));
    busiest =
        busiest_sm(tile.m, tile.n, padded.k, ceil_div(padded.tiles, tile.cta_count), kBf16Bytes);
  }
  return gemm_features(all_ops, padded.bytes(kBf16Bytes), busiest,
                       hardware.tensor_bf16_ops_per_cycle_sm, hardware);
}

PipelineFeatures analyze(const Fp8GemmConfig& gemm, const HardwareSpec& hardware,
                         const AnalysisOptions&) {
  const double ops_per_cycle_sm = tensor_ops_per_cycle_sm(hardware, Element::fp8);
  const PaddedGemm padded = pad(gemm.m, gemm.n, gemm.k, gemm.tile_m, gemm.tile_n, gemm.tile_k);
  const BusiestSm busiest = busiest_sm(gemm.tile_m, gemm.tile_n, padded.k,
                                       ceil_div(padded.tiles, hardware.num_sms), kFp8Bytes);
  return gemm_features(padded.ops(), padded.bytes(kFp8Bytes), busiest, ops_per_cycle_sm, hardware);
}

}  // namespace pw
