#include "pw/roofline.h"

namespace pw {

Roofline roofline(const OperatorConfig& config, const HardwareSpec& hardware) {
  const Work needed = operator_work(config);
  const double dram_us = needed.bytes / dram_bytes_per_us(hardware);
  if (needed.operations == 0) return {0, dram_us};
  return {needed.operations / tensor_ops_per_us(hardware, needed.element), dram_us};
}

}  // namespace pw
