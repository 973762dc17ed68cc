#include <algorithm>
#include <cmath>

#include "gemm_rates.h"
#include "matrix_work.h"
#include "pw/gemm.h"
#include "pw/int_math.h"
#include "pw/work.h"

namespace pw {
namespace {

constexpr std::int64_t kTileK = 64;

struct TileShape {
  std::int64_t m, n;
};
// In the order of preference among equals.
constexpr TileShape kMenu[] = {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64},
                               {64, 128},  {64, 64},   {32, 128},  {128, 32}, {32, 64},  {64, 32},
                               {16, 64},   {64, 16},   {16, 128},  {32, 32}};
constexpr std::int64_t kSplits[] = {1, 2, 3, 4, 6, 8, 16};

// One problem at one GPU's rates.
struct Problem {
  double m, n, k;
  const GemmRates& rates;

  double bytes() const { return matrix_bytes(m, n, k, rates.element_bytes); }
  double tiles(const TileShape& tile) const {
    return std::ceil(m / static_cast<double>(tile.m)) * std::ceil(n / static_cast<double>(tile.n));
  }
  // K of one slice.
  double depth(std::int64_t split) const {
    return std::ceil(std::ceil(k / kTileK) / static_cast<double>(split)) * kTileK;
  }
  // A duration and that of the reduction over `split` slices.
  double with_reduction(double us, std::int64_t split) const {
    constexpr double kLaunchUs = 1;
    constexpr double kBytes = 8;  // fp32 partial sums, written and read
    if (split == 1) {
      return us;
    }
    return us + kLaunchUs + kBytes * static_cast<double>(split) * m * n / rates.l2_bytes_per_us;
  }
};

constexpr double kPrologueCycles = 800;

// Tensor operations that one SM completes in a cycle of the tile's main loop.
double main_loop_rate(const TileShape& tile, const GemmRates& rates) {
  constexpr double kHalfRateTile = 12;  // harmonic tile side at which half the tensor rate is lost
  const auto tile_m = static_cast<double>(tile.m);
  const auto tile_n = static_cast<double>(tile.n);
  const double harmonic_side = tile_m * tile_n / (tile_m + tile_n);
  return rates.tensor_ops_per_cycle_sm * (harmonic_side / (harmonic_side + kHalfRateTile));
}

// Duration of a kernel with tile `tile` and K cut into `split` slices: the slowest of tensor work
// in waves, L2 traffic of all CTAs and DRAM traffic, plus the reduction over slices.
double estimate_us(const Problem& problem, const TileShape& tile, std::int64_t split) {
  constexpr double kCtasForFullDram = 0.75;  // per SM
  const GemmRates& rates = problem.rates;
  const auto tile_m = static_cast<double>(tile.m);
  const auto tile_n = static_cast<double>(tile.n);
  const auto slices = static_cast<double>(split);
  const double depth = problem.depth(split);
  const double ctas = problem.tiles(tile) * slices;
  const double waves = std::ceil(ctas / rates.sms);
  const double tensor_us =
      waves * (2 * tile_m * tile_n * depth / main_loop_rate(tile, rates) + kPrologueCycles) /
      rates.freq_mhz;
  const double l2_us =
      ctas * (tile_m + tile_n) * depth * rates.element_bytes / rates.l2_bytes_per_us;
  const double dram_us = problem.bytes() / (rates.dram_bytes_per_us *
                                            std::min(1.0, ctas / (kCtasForFullDram * rates.sms)));
  return problem.with_reduction(std::max({tensor_us, l2_us, dram_us}), split);
}

// What no split of a tile can be faster than before its reduction: a prologue, tensor work without
// idle SMs, L2 and DRAM traffic. The margin covers rounding in another order than the estimate's.
double least_us(const Problem& problem, const TileShape& tile) {
  constexpr double kMargin = 1 - 1e-9;
  const GemmRates& rates = problem.rates;
  const auto tile_m = static_cast<double>(tile.m);
  const auto tile_n = static_cast<double>(tile.n);
  const double ctas = problem.tiles(tile);
  const double depth = problem.depth(1);
  const double cycles = 2 * tile_m * tile_n * depth / main_loop_rate(tile, rates) + kPrologueCycles;
  const double l2_bytes = (tile_m + tile_n) * depth * rates.element_bytes;
  return kMargin *
         std::max({kPrologueCycles / rates.freq_mhz, ctas * cycles / (rates.sms * rates.freq_mhz),
                   ctas * l2_bytes / rates.l2_bytes_per_us,
                   problem.bytes() / rates.dram_bytes_per_us});
}

GemmRates gemm_rates(const HardwareSpec& hardware, double ops_per_cycle_sm, double element_bytes) {
  const SustainedFractions sustained = sustained_fractions(hardware);
  return {
      element_bytes,
      ops_per_cycle_sm * sustained.tensor,
      hardware.memory_bandwidth * sustained.dram * 1e3,
      hardware.l2_bandwidth * 1e3,
      static_cast<double>(hardware.num_sms),
      hardware.sm_freq_mhz,
  };
}

}  // namespace

GemmRates bf16_gemm_rates(const HardwareSpec& hardware) {
  return gemm_rates(hardware, tensor_ops_per_cycle_sm(hardware, Element::bf16), 2);
}

GemmRates fp8_gemm_rates(const HardwareSpec& hardware) {
  return gemm_rates(hardware, tensor_ops_per_cycle_sm(hardware, Element::fp8), 1);
}

TileSelection select_gemm_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                               const GemmRates& rates) {
  constexpr double kClearlyBetter = 0.999;  // ties keep the earlier, larger tile
  const Problem problem{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k),
                        rates};
  TileSelection best;
  double limit_us = 0;  // what the next choice must be below
  for (const TileShape& tile : kMenu) {
    const double tile_us = least_us(problem, tile);
    for (const std::int64_t split : kSplits) {
      if (split > 1 && ceil_div(k, kTileK) < 2 * split) {
        break;
      }
      if (best.tile_m != 0 && problem.with_reduction(tile_us, split) >= limit_us) {
        break;  // and so are deeper splits
      }
      const double us = estimate_us(problem, tile, split);
      if (best.tile_m == 0 || us < limit_us) {
        best = {tile.m, tile.n, split, us};
        limit_us = us * kClearlyBetter;
      }
    }
  }
  return best;
}

TileSelection select_gemm_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                               const HardwareSpec& hardware) {
  return select_gemm_tile(m, n, k, bf16_gemm_rates(hardware));
}

GemmTile choose_gemm_tile(const GemmConfig& gemm, GemmTilePolicy policy,
                          const HardwareSpec& hardware) {
  TileSelection selection{128, 128, 1, 0};
  if (policy == GemmTilePolicy::selected) {
    selection = select_gemm_tile(gemm.m, gemm.n, gemm.k, hardware);
  }
  const std::int64_t tiles =
      checked_mul(ceil_div(gemm.m, selection.tile_m), ceil_div(gemm.n, selection.tile_n));
  GemmTile tile{selection.tile_m, selection.tile_n, kTileK, checked_mul(tiles, selection.split),
                selection.split > 1};
  if (hardware.gemm_rules == GemmRules::sm90 && !tile.split_k) {
    tile.cta_count = std::min(tiles, hardware.num_sms);  // persistent CTAs
  }
  return tile;
}

}  // namespace pw
