#pragma once

#include "pw/operators.h"

namespace pw {

// What an operator takes at the GPU's nominal rates (1e9 bytes/s; no sustained fractions): the
// arithmetic of its result on the tensor pipe, and every operand once through DRAM.
struct Roofline {
  double compute_us = 0;  // 0 for operators without tensor work
  double dram_us = 0;

  double bound_us() const { return compute_us > dram_us ? compute_us : dram_us; }
};
Roofline roofline(const OperatorConfig& config, const HardwareSpec& hardware);

}  // namespace pw
