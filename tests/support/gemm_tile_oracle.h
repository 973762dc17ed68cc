#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gemm_rates.h"

// Tile selection as docs/method.md tells it: every tile of the menu with every split.
namespace pw::oracle {

inline double gemm_estimate_us(double m, double n, double k, double tile_m, double tile_n,
                               double split, const GemmRates& rates) {
  const double depth = std::ceil(std::ceil(k / 64) / split) * 64;
  const double ctas = std::ceil(m / tile_m) * std::ceil(n / tile_n) * split;
  const double harmonic_side = tile_m * tile_n / (tile_m + tile_n);
  const double tile_efficiency = harmonic_side / (harmonic_side + 12);
  const double tensor_us =
      std::ceil(ctas / rates.sms) *
      (2 * tile_m * tile_n * depth / (rates.tensor_ops_per_cycle_sm * tile_efficiency) + 800) /
      rates.freq_mhz;
  const double l2_us =
      ctas * (tile_m + tile_n) * depth * rates.element_bytes / rates.l2_bytes_per_us;
  const double dram_us = rates.element_bytes * (m * k + n * k + m * n) /
                         (rates.dram_bytes_per_us * std::min(1.0, ctas / (0.75 * rates.sms)));
  const double slowest = std::max({tensor_us, l2_us, dram_us});
  return split == 1 ? slowest : slowest + 1 + 8 * split * m * n / rates.l2_bytes_per_us;
}

inline TileSelection select_gemm_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                                      const GemmRates& rates) {
  constexpr std::int64_t kMenu[][2] = {
      {256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64},
      {32, 128},  {128, 32},  {32, 64},   {64, 32},  {16, 64},  {64, 16},  {16, 128}, {32, 32}};
  TileSelection best;
  for (const auto& tile : kMenu) {
    for (const std::int64_t split : {1, 2, 3, 4, 6, 8, 16}) {
      if (split > 1 && (k + 63) / 64 < 2 * split) {
        continue;
      }
      const double us =
          gemm_estimate_us(static_cast<double>(m), static_cast<double>(n), static_cast<double>(k),
                           static_cast<double>(tile[0]), static_cast<double>(tile[1]),
                           static_cast<double>(split), rates);
      if (best.tile_m == 0 || us < best.estimate_us * 0.999) {
        best = {tile[0], tile[1], split, us};
      }
    }
  }
  return best;
}

}  // namespace pw::oracle
