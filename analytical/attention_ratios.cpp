#include <algorithm>
#include <cmath>
#include <string>

#include "pw/fields.h"
#include "pw/int_math.h"
#include "pw/ratios.h"
#include "pw/work.h"
#include "ratio_math.h"

namespace pw {
namespace {

double query_tile(double mean_grouped_queries) {
  if (mean_grouped_queries > 64) return 128;
  return mean_grouped_queries > 16 ? 64 : 16;
}

}  // namespace

const RatioNames& ratio_names(const AttentionConfig*) {
  static const RatioNames names = {"l_tc",      "l_dr",       "l_xu",     "l_tp",
                                   "l_l2",      "l_wave",     "l_abs",    "ln_units_per_occ",
                                   "ln_active", "wave_fill",  "ln_group", "ln_hd",
                                   "ln_mean_q", "ln_mean_kv", "ln_bs",    "ln_nkv",
                                   "ln_split",  "ln_T",       "hot"};
  return names;
}

AttentionSums sum_requests(const AttentionConfig& a) {
  const double group = static_cast<double>(a.query_heads) / static_cast<double>(a.kv_heads);
  double queries = 0;
  for (const std::int64_t q : a.q_lengths) {
    queries += static_cast<double>(q);
  }
  AttentionSums sums;
  sums.tile = query_tile(queries / static_cast<double>(a.q_lengths.size()) * group);
  for (std::size_t i = 0; i < a.q_lengths.size(); ++i) {
    const auto q = static_cast<double>(a.q_lengths[i]);
    const auto kv = static_cast<double>(a.kv_lengths[i]);
    if (a.causal && q > kv) {
      throw DataError("attn: kv_lengths[" + std::to_string(i) + "] is " +
                      std::to_string(a.kv_lengths[i]) + ", expected at least q_lengths = " +
                      std::to_string(a.q_lengths[i]) + " under the causal mask");
    }
    const double tiles = std::ceil(q * group / sums.tile);
    const double mean_visible = a.causal ? (kv - q) + (q + 1) / 2 : kv;
    sums.queries += q;
    sums.kv += kv;
    sums.pairs += q * mean_visible;
    sums.query_tiles += tiles;
    sums.tile_reads += tiles * mean_visible;
    sums.longest_kv = std::max(sums.longest_kv, kv);
  }
  return sums;
}

RatioFeatures ratios(const AttentionConfig& a, const HardwareSpec& hardware) {
  return ratios(a, a.kv_copies, hardware);
}

RatioFeatures ratios(const AttentionConfig& a, double copies, const HardwareSpec& hardware) {
  return ratios(a, sum_requests(a), copies, hardware);
}

RatioFeatures ratios(const AttentionConfig& a, const AttentionSums& sums, double copies,
                     const HardwareSpec& hardware) {
  constexpr double kElementBytes = 2;  // bf16
  constexpr double kKvBlock = 128;     // smallest part of the context that a split works on
  constexpr double kCtasPerSm = 2;
  constexpr double kColdLatencyUs = 10;  // docs/method.md "Cold operands"
  const auto heads = static_cast<double>(a.query_heads);
  const auto kv_heads = static_cast<double>(a.kv_heads);
  const auto head_dim = static_cast<double>(a.head_dim);
  const auto batch = static_cast<double>(a.q_lengths.size());
  const auto sms = static_cast<double>(hardware.num_sms);
  const double freq = hardware.sm_freq_mhz;
  const double group = heads / kv_heads;
  const double tile = sums.tile;

  const Work needed = work(a, sums);
  const double tensor_per_us = tensor_ops_per_us(hardware, needed.element);
  const double l2_bytes_per_us = hardware.l2_bandwidth * 1e3;
  const double tensor_us = needed.operations / tensor_per_us;
  const double dram_us = needed.bytes / dram_bytes_per_us(hardware);
  const double xu_us = sums.pairs * heads / (hardware.xu_ops_per_cycle_sm * sms * freq);
  const double bound_us = std::max({tensor_us, dram_us, xu_us});

  const double tile_us = 4 * sums.tile_reads * kv_heads * tile * head_dim / tensor_per_us;
  const double l2_us = 2 * kElementBytes * sums.tile_reads * kv_heads * head_dim / l2_bytes_per_us;
  const double units = sums.query_tiles * kv_heads;
  const double slots = kCtasPerSm * sms;
  double split = 1;
  if (units < slots) {
    split =
        std::max(1.0, std::min(std::floor(slots / units), std::ceil(sums.longest_kv / kKvBlock)));
  }
  const double waves = std::ceil(units * split / slots);
  const double wave_us = std::max(tile_us * waves * slots / (units * split),
                                  2 * 4 * tile * sums.longest_kv / split * head_dim /
                                      hardware.tensor_bf16_ops_per_cycle_sm / freq);
  const LnToBound ln_to_bound(bound_us);
  const double kv_bytes = 2 * kElementBytes * head_dim * kv_heads * sums.kv;
  const double sustained_bytes_per_us =
      hardware.memory_bandwidth * 1e3 * sustained_fractions(hardware).dram;
  return {bound_us,
          {ln_to_bound(tensor_us), ln_to_bound(dram_us), ln_to_bound(xu_us), ln_to_bound(tile_us),
           ln_to_bound(l2_us), ln_to_bound(wave_us), std::log(bound_us), std::log(units / slots),
           std::log(std::min(1.0, units * split / sms)), units * split / slots / waves,
           std::log(group), std::log(head_dim), std::log(sums.queries / batch),
           std::log(sums.kv / batch), std::log(batch), std::log(kv_heads), std::log(split),
           std::log(tile), ln_to_l2(copies * needed.bytes, hardware, -6, 2)},
          ReusedOperand{needed.bytes, l2_bytes(hardware),
                        kColdLatencyUs + kv_bytes / sustained_bytes_per_us}};
}

}  // namespace pw
