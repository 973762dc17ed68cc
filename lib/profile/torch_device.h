#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pw/profiling.h"

namespace pw {

// "cpu" or "cuda"; throws DataError for cuda where this LibTorch or machine has none. `threads`: of
// a CPU, 0 = all cores.
std::unique_ptr<ProfiledDevice> open_torch_device(const std::string& device, std::int64_t threads);

// What a device sustains in a large matrix product and a large copy (bytes read and written), and
// for files of devices without a data sheet: in reading alone and in a copy within the cache.
struct SustainedRates {
  double matrix_ops_per_us = 0;
  double copy_bytes_per_us = 0;
  double read_bytes_per_us = 0;
  double cache_bytes_per_us = 0;
};
SustainedRates measure_rates(ProfiledDevice& device);

}  // namespace pw
