#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "pw/hardware_spec.h"

namespace pw {

// Reads one hardware/*.json (keys in hardware/README.md). The stem comes from the file name, the
// full name from `name`, by default the stem. Unknown keys are an error that lists the known ones.
HardwareSpec read_hardware(const std::filesystem::path& path);

// All GPUs of a folder, by stem.
class HardwareCatalog {
 public:
  static HardwareCatalog read(const std::filesystem::path& folder);

  const std::vector<HardwareSpec>& all() const { return all_; }
  // Finds by stem, full name or an alias of the file, ignoring case, surrounding and repeated
  // spaces, and `_` for a space; never by part of a name. nullptr when absent.
  const HardwareSpec* find(std::string_view name) const;
  // Throws DataError that lists the known GPUs.
  const HardwareSpec& get(std::string_view name) const;

 private:
  std::filesystem::path folder_;
  std::vector<HardwareSpec> all_;
  std::vector<std::pair<std::string, std::size_t>> names_;  // normalised name or alias -> index
};

}  // namespace pw
