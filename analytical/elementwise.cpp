#include "pw/elementwise.h"

#include <algorithm>

namespace pw {

double elementwise_us(double bytes, const HardwareSpec& hardware) {
  constexpr double kFloorUs = 2.5;
  constexpr double kLaunchUs = 1.5;
  constexpr double kBandwidthFraction = 0.85;
  const double bytes_per_us = hardware.memory_bandwidth * 1e3;
  return std::max(kFloorUs, kLaunchUs + bytes / (kBandwidthFraction * bytes_per_us));
}

double analytic_duration_us(const RmsNormConfig& config, const HardwareSpec& hardware) {
  constexpr double kBytesPerElement = 4 * 2;  // 4 passes of bf16
  return elementwise_us(
      kBytesPerElement * static_cast<double>(config.seq) * static_cast<double>(config.dim),
      hardware);
}

double analytic_duration_us(const SiluMulConfig& config, const HardwareSpec& hardware) {
  constexpr double kBytesPerInputElement = 3;  // 3 passes of bf16 over half the input row
  return elementwise_us(
      kBytesPerInputElement * static_cast<double>(config.seq) * static_cast<double>(config.dim),
      hardware);
}

}  // namespace pw
