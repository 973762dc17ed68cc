#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pw {

enum class Architecture { ampere, ada, hopper, blackwell };
enum class GemmRules { sm80, sm90 };  // one CTA per tile in waves; persistent or split CTAs
enum class Interconnect { nvlink, pcie };

std::string_view to_string(Architecture architecture);
std::string_view to_string(GemmRules rules);
std::string_view to_string(Interconnect interconnect);

// One GPU. Field names carry the unit; the JSON key of hardware/*.json stands behind each.
struct HardwareSpec {
  std::string stem;  // short name, the file's stem: "A100"
  std::string name;  // full device name as in datasets: "NVIDIA A100-SXM4-80GB"
  Architecture architecture = Architecture::ampere;
  GemmRules gemm_rules = GemmRules::sm80;  // gemmRules; by default from the architecture

  std::int64_t num_sms = 0;                 // numSms
  double sm_freq_mhz = 0;                   // smFreq, equal to cycles per microsecond
  double tensor_bf16_ops_per_cycle_sm = 0;  // tcBf16, a multiply-add is 2 operations
  double tensor_fp8_ops_per_cycle_sm = 0;   // tcFp8, 0 = the GPU has none
  double tensor_fp4_ops_per_cycle_sm = 0;   // tcFp4, likewise
  double xu_ops_per_cycle_sm = 0;           // xuFp32, special functions
  double fma_ops_per_cycle_sm = 0;          // FmaFp32
  // The published formulas read the next two as GiB/s; recipe formulas read them as 1e9 bytes/s.
  double memory_bandwidth = 0;           // memBandwidth
  double l2_bandwidth = 0;               // l2CacheBandwidth
  double shared_bytes_per_cycle_sm = 0;  // sharedMemoryBandwidth
  double shared_memory_kib = 0;          // sharedMemorySize per SM, 0 = not given
  double l2_cache_kib = 0;               // l2CacheSize, 0 = not given
  std::int64_t global_memory_bytes = 0;  // totalGlobalMem, 0 = not given

  // Fractions of the nominal rates that large kernels sustain; absent = not measured.
  std::optional<double> sustained_tensor_fraction;  // sustainedTensorFraction
  std::optional<double> sustained_dram_fraction;    // sustainedDramFraction

  // The link between GPUs of one node, for GPUs without measured collectives.
  std::optional<Interconnect> interconnect;     // interconnect: "nvlink" or "pcie"
  std::optional<double> interconnect_gb_per_s;  // interconnectBandwidth, 1e9 bytes/s per direction
};

// The sustained fractions of the file; where it has none, the median of the calibrated GPUs of the
// same architecture and power class (hardware/README.md "Sustained rates").
struct SustainedFractions {
  double tensor = 1;
  double dram = 1;
  bool is_default = false;  // at least one of them is not the file's
};
SustainedFractions sustained_fractions(const HardwareSpec& hardware);

// Throws DataError unless every rate that all operators need is finite and positive.
void check(const HardwareSpec& hardware);

}  // namespace pw
