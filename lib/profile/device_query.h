#pragma once

#include <cstdint>

#include "pw/device_info.h"

namespace pw {

// Of the fastest core now, as the system tells it; 0 = it does not.
double cpu_clock_mhz();
// The larger of both clocks, or the reported one when the measured one is too far above it to be
// true: then the measurement was fooled by a processor that is cleverer than it.
double plausible_clock_mhz(double reported, double measured);
std::int64_t free_cpu_bytes();
DeviceState gpu_state();

}  // namespace pw
