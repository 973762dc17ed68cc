#include <algorithm>
#include <cmath>

#include "gemm_rates.h"
#include "pw/ratios.h"

namespace pw {
namespace {

constexpr double kElementBytes = 2;  // bf16
constexpr double kTileK = 64;
constexpr double kSmallestRatio = 1e-12;

// Where the operands are: ln of (distinct weight copies in turn x bytes) / L2. Negative: in L2.
double coldness(double bytes, double copies, double l2_bytes) {
  return std::clamp(std::log(copies * bytes / l2_bytes), -4.0, 2.0);
}

}  // namespace

const std::vector<std::string_view>& gemm_ratio_names() {
  static const std::vector<std::string_view> names = {
      "l_tc",      "l_dr",      "l_abs",          "log2_M",  "log2_N",  "log2_K",
      "hot",       "m_odd",     "l_l2",           "l_wave",  "l_pad",   "l_sel",
      "wave_fill", "ln_waves",  "ln_ctas_per_sm", "log2_tm", "log2_tn", "log2_split",
      "M_over_Mp", "N_over_Np", "l_out",          "log2_kk"};
  return names;
}

RatioFeatures gemm_ratios(const GemmConfig& gemm, const HardwareSpec& hardware) {
  if (hardware.l2_cache_kib <= 0) {
    throw DataError("hardware '" + hardware.stem + "' has no l2CacheSize, which this model needs");
  }
  const GemmRates rates = sustained_gemm_rates(hardware);
  const TileSelection selection = select_gemm_tile(gemm.m, gemm.n, gemm.k, hardware);
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  const auto tile_m = static_cast<double>(selection.tile_m);
  const auto tile_n = static_cast<double>(selection.tile_n);
  const auto split = static_cast<double>(selection.split);

  const double depth = std::ceil(std::ceil(k / kTileK) / split) * kTileK;  // K of one slice
  const double padded_m = std::ceil(m / tile_m) * tile_m;
  const double padded_n = std::ceil(n / tile_n) * tile_n;
  const double padded_k = std::ceil(k / kTileK) * kTileK;
  const double ctas = padded_m / tile_m * (padded_n / tile_n) * split;
  const double waves = std::ceil(ctas / rates.sms);

  const double bytes = kElementBytes * (m * k + n * k + m * n);
  const double tensor_us = 2 * m * n * k / rates.tensor_ops_per_us();
  const double dram_us = bytes / rates.dram_bytes_per_us;
  const double bound_us = std::max(tensor_us, dram_us);
  const auto ln_to_bound = [&](double us) {
    return std::log(std::max(us / bound_us, kSmallestRatio));
  };
  const double l2_us = ctas * (tile_m + tile_n) * depth * kElementBytes / rates.l2_bytes_per_us;
  const double wave_us =
      2 * tile_m * tile_n * depth * waves / (rates.tensor_ops_per_cycle_sm * rates.freq_mhz);
  const double padded_us = 2 * padded_m * padded_n * padded_k / rates.tensor_ops_per_us();
  const double output_us = kElementBytes * m * n / rates.dram_bytes_per_us;

  return {bound_us,
          {ln_to_bound(tensor_us),
           ln_to_bound(dram_us),
           std::log(bound_us),
           std::log2(m),
           std::log2(n),
           std::log2(k),
           coldness(bytes, gemm.weight_copies, hardware.l2_cache_kib * 1024),
           gemm.m % 8 != 0 ? 1.0 : 0.0,
           ln_to_bound(l2_us),
           ln_to_bound(wave_us),
           ln_to_bound(padded_us),
           ln_to_bound(selection.estimate_us),
           ctas / rates.sms / waves,
           std::log(waves),
           std::log(ctas / rates.sms),
           std::log2(tile_m),
           std::log2(tile_n),
           std::log2(split),
           m / padded_m,
           n / padded_n,
           ln_to_bound(output_us),
           std::log2(depth)}};
}

}  // namespace pw
