#pragma once

#include <cstdint>

#include "pw/device_info.h"

namespace pw {

double cpu_clock_mhz();  // as the system tells it; 0 = it does not
std::int64_t free_cpu_bytes();
DeviceState gpu_state();

}  // namespace pw
