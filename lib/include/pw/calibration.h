#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pw/gemm.h"
#include "pw/hardware_spec.h"

namespace pw {

struct GemmMeasurement {
  GemmConfig gemm;
  double duration_us = 0;
};

// What a GPU sustains, as a fraction of a nominal rate.
struct SustainedRate {
  double fraction = 0;      // median over the rows
  std::int64_t rows = 0;    // that show the rate
  bool large_rows = false;  // by the strict rule; false: by the rule for few measurements
};

// Tensor rate: 2MNK / time over the nominal rate of rows with M, N, K >= 4096 and MN > 3e7; if
// there are none, of rows whose tensor time is at least 4 times their DRAM time and 100 us. DRAM
// rate: bytes / time over the nominal rate (1e9 bytes/s) of rows with M <= 32 and at least 300 MB
// of weights; if there are none, of rows whose DRAM time is at least 4 times their tensor time and
// whose bytes are at least 4 times the L2. Absent: no row shows the rate. Source: recipe of
// docs/method.md "Sustained rates".
std::optional<SustainedRate> sustained_tensor_rate(const std::vector<GemmMeasurement>& rows,
                                                   const HardwareSpec& hardware);
std::optional<SustainedRate> sustained_dram_rate(const std::vector<GemmMeasurement>& rows,
                                                 const HardwareSpec& hardware);

}  // namespace pw
