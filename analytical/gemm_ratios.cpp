#include <algorithm>
#include <cmath>

#include "gemm_rates.h"
#include "matrix_work.h"
#include "pw/operators.h"
#include "pw/ratios.h"
#include "ratio_math.h"

namespace pw {
namespace {

constexpr double kTileK = 64;
// A GEMM whose weights come from DRAM takes this and the time of reading them: docs/method.md
// "Cold operands".
constexpr double kColdLatencyUs = 3;

// The ratio features of M x N x K at `rates`. `copies`: weight matrices that are used in turn.
RatioFeatures ratios_of(std::int64_t rows, std::int64_t columns, std::int64_t inner, double copies,
                        const GemmRates& rates, const HardwareSpec& hardware) {
  const TileSelection selection = select_gemm_tile(rows, columns, inner, rates);
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  const auto k = static_cast<double>(inner);
  const auto tile_m = static_cast<double>(selection.tile_m);
  const auto tile_n = static_cast<double>(selection.tile_n);
  const auto split = static_cast<double>(selection.split);

  const double depth = std::ceil(std::ceil(k / kTileK) / split) * kTileK;  // K of one slice
  const double padded_m = std::ceil(m / tile_m) * tile_m;
  const double padded_n = std::ceil(n / tile_n) * tile_n;
  const double padded_k = std::ceil(k / kTileK) * kTileK;
  const double ctas = padded_m / tile_m * (padded_n / tile_n) * split;
  const double waves = std::ceil(ctas / rates.sms);

  const double bytes = matrix_bytes(m, n, k, rates.element_bytes);
  const double tensor_us = matrix_operations(m, n, k) / rates.tensor_ops_per_us();
  const double dram_us = bytes / rates.dram_bytes_per_us;
  const double bound_us = std::max(tensor_us, dram_us);
  const LnToBound ln_to_bound(bound_us);
  const double l2_us =
      ctas * (tile_m + tile_n) * depth * rates.element_bytes / rates.l2_bytes_per_us;
  const double wave_us =
      2 * tile_m * tile_n * depth * waves / (rates.tensor_ops_per_cycle_sm * rates.freq_mhz);
  const double padded_us = 2 * padded_m * padded_n * padded_k / rates.tensor_ops_per_us();
  const double output_us = rates.element_bytes * m * n / rates.dram_bytes_per_us;

  return {bound_us,
          {ln_to_bound(tensor_us),
           ln_to_bound(dram_us),
           std::log(bound_us),
           std::log2(m),
           std::log2(n),
           std::log2(k),
           ln_to_l2(copies * bytes, hardware, -4, 2),
           rows % 8 != 0 ? 1.0 : 0.0,
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
           std::log2(depth)},
          ReusedOperand{bytes, l2_bytes(hardware),
                        kColdLatencyUs + rates.element_bytes * n * k / rates.dram_bytes_per_us}};
}

}  // namespace

const RatioNames& ratio_names(const GemmConfig*) {
  static const RatioNames names = {
      "l_tc",      "l_dr",      "l_abs",          "log2_M",  "log2_N",  "log2_K",
      "hot",       "m_odd",     "l_l2",           "l_wave",  "l_pad",   "l_sel",
      "wave_fill", "ln_waves",  "ln_ctas_per_sm", "log2_tm", "log2_tn", "log2_split",
      "M_over_Mp", "N_over_Np", "l_out",          "log2_kk"};
  return names;
}

const RatioNames& ratio_names(const Fp8GemmConfig*) {
  static const RatioNames names = [] {
    RatioNames all = ratio_names(static_cast<const GemmConfig*>(nullptr));
    all.insert(all.end(), {"l_tensor_sm_max", "l_global", "l_local", "l_sm_max_global",
                           "l_sm_max_shared", "l_sm_max_local"});
    return all;
  }();
  return names;
}

RatioFeatures ratios(const GemmConfig& gemm, double copies, const HardwareSpec& hardware) {
  return ratios_of(gemm.m, gemm.n, gemm.k, copies, bf16_gemm_rates(hardware), hardware);
}

RatioFeatures ratios(const GemmConfig& gemm, const HardwareSpec& hardware) {
  return ratios(gemm, gemm.weight_copies, hardware);
}

RatioFeatures ratios(const Fp8GemmConfig& gemm, const HardwareSpec& hardware) {
  return ratios(gemm, gemm.weight_copies, hardware);
}

RatioFeatures ratios(const Fp8GemmConfig& gemm, double copies, const HardwareSpec& hardware) {
  RatioFeatures result =
      ratios_of(gemm.m, gemm.n, gemm.k, copies, fp8_gemm_rates(hardware), hardware);
  const PipelineFeatures pipes = analyze(gemm, hardware, {});
  const LnToBound ln_to_bound(std::max(pipes.tensor.all_cycles, pipes.memory.global_cycles));
  for (const double cycles :
       {pipes.tensor.sm_max_cycles, pipes.memory.global_cycles, pipes.memory.local_cycles,
        pipes.memory.sm_max_global_cycles, pipes.memory.sm_max_shared_cycles,
        pipes.memory.sm_max_local_cycles}) {
    result.values.push_back(ln_to_bound(cycles));
  }
  return result;
}

}  // namespace pw
