#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pw/hardware_spec.h"

namespace pw {

// What a device tells about itself; 0 or "" = not told.
struct DeviceInfo {
  bool is_gpu = false;
  std::string name;        // "NVIDIA H200"; of a CPU the model and the cores in use
  std::string driver;      // of a CPU the kernel
  std::int64_t cores = 0;  // SMs, or threads in use
  double clock_mhz = 0;    // the highest that the device tells, of a CPU the measured one if higher
  double memory_mhz = 0;
  std::int64_t memory_bus_bits = 0;
  std::int64_t cache_bytes = 0;  // L2 of a GPU, last level of a CPU
  std::int64_t memory_bytes = 0;
  std::int64_t shared_bytes_per_core = 0, register_bytes_per_core = 0;
  std::int64_t compute_major = 0, compute_minor = 0;
  double ops_per_cycle_core = 0;  // of a CPU: fp32, a multiply-add is 2
};

// From /proc, /sys and a measurement of the clock. `threads`: 0 = all cores.
DeviceInfo cpu_info(std::int64_t threads);

// Of the first visible GPU, from NVIDIA's driver; throws DataError without a driver or a GPU.
DeviceInfo gpu_info();

// What changes while a device works.
struct DeviceState {
  double clock_mhz = 0, power_limit_w = 0;
  std::int64_t free_bytes = 0;
};
DeviceState device_state(const DeviceInfo& device);

// The nominal numbers of a hardware file. Of a GPU: what its driver tells, rates of its pipes by
// compute capability (throws DataError for one that we do not know); L2 bandwidth is left 0. Of a
// CPU: stand-ins (docs/profiling.md); memory and L2 bandwidth are left 0.
HardwareSpec nominal_spec(const DeviceInfo& device);

// A hardware file (hardware/README.md) with `notes` about where its numbers come from.
std::string hardware_json(const HardwareSpec& spec, const DeviceInfo& device,
                          const std::vector<std::string>& notes);

}  // namespace pw
