#pragma once

#include "pw/gemm.h"
#include "pw/hardware_spec.h"

namespace pw {

// A GPU's rates as GEMM estimates use them: sustained fractions applied where they are known.
// The spec's bandwidths are read as 1e9 bytes/s here.
struct GemmRates {
  double element_bytes;
  double tensor_ops_per_cycle_sm;
  double dram_bytes_per_us;
  double l2_bytes_per_us;
  double sms;
  double freq_mhz;

  double tensor_ops_per_us() const { return tensor_ops_per_cycle_sm * sms * freq_mhz; }
};

GemmRates bf16_gemm_rates(const HardwareSpec& hardware);
GemmRates fp8_gemm_rates(const HardwareSpec& hardware);

TileSelection select_gemm_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                               const GemmRates& rates);

}  // namespace pw
