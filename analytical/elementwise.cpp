#include "pw/elementwise.h"

#include <algorithm>

#include "pw/work.h"

namespace pw {

double elementwise_us(double bytes, const HardwareSpec& hardware, double floor_us) {
  constexpr double kLaunchUs = 1.5;
  constexpr double kBandwidthFraction = 0.85;
  return std::max(floor_us, kLaunchUs + bytes / (kBandwidthFraction * dram_bytes_per_us(hardware)));
}

double analytic_duration_us(const RmsNormConfig& config, const HardwareSpec& hardware) {
  return elementwise_us(work(config).bytes, hardware);
}

double analytic_duration_us(const SiluMulConfig& config, const HardwareSpec& hardware) {
  return elementwise_us(work(config).bytes, hardware);
}

}  // namespace pw
