#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace pw {

// One measured call.
struct CollectiveSample {
  std::int64_t bytes = 0;
  std::int64_t workers = 0;
  double duration_us = 0;
};

using SamplesByWorkers = std::map<std::int64_t, std::vector<CollectiveSample>>;
SamplesByWorkers by_workers(const std::vector<CollectiveSample>& samples);

}  // namespace pw
