#pragma once

#include <filesystem>
#include <string>

#include "pw/hardware_catalog.h"

namespace pw {

// The workload behind a published prediction, and the GPU: "<workload stem>_<GPU stem>.json".
struct PublishedCase {
  std::filesystem::path workload;
  const HardwareSpec* hardware = nullptr;
};

inline PublishedCase find_case(const std::filesystem::path& reference,
                               const std::filesystem::path& prediction,
                               const HardwareCatalog& catalog) {
  const std::string stem = prediction.stem().string();
  const std::size_t end = stem.find('_', stem.rfind("_pp") + 1);
  return {reference / "workload" / (stem.substr(0, end) + ".json"),
          &catalog.get(stem.substr(end + 1))};
}

}  // namespace pw
