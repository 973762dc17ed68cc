#pragma once

#include "pw/hardware_spec.h"
#include "pw/rmsnorm.h"
#include "pw/silu_mul.h"

namespace pw {

// Duration of a kernel that only moves `bytes` through DRAM, from the GPU's nominal bandwidth (1e9
// bytes/s): launch and tail of 1.5 us, 85 % of the bandwidth, never below `floor_us`.
inline constexpr double kElementwiseFloorUs = 2.5;
double elementwise_us(double bytes, const HardwareSpec& hardware,
                      double floor_us = kElementwiseFloorUs);

// FlashInfer's fused kernels: residual add + RMSNorm reads two rows and writes two (4 passes over
// seq x dim); SiluAndMul reads gate and up and writes half as much (3 passes over seq x dim/2).
double analytic_duration_us(const RmsNormConfig& config, const HardwareSpec& hardware);
double analytic_duration_us(const SiluMulConfig& config, const HardwareSpec& hardware);

}  // namespace pw
