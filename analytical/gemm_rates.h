#pragma once

#include "pw/hardware_spec.h"

namespace pw {

// A GPU's rates as GEMM estimates use them: sustained fractions applied where they are known.
// The spec's bandwidths are read as 1e9 bytes/s here.
struct GemmRates {
  double tensor_ops_per_cycle_sm;
  double dram_bytes_per_us;
  double l2_bytes_per_us;
  double sms;
  double freq_mhz;

  double tensor_ops_per_us() const { return tensor_ops_per_cycle_sm * sms * freq_mhz; }
};

GemmRates sustained_gemm_rates(const HardwareSpec& hardware);

}  // namespace pw
