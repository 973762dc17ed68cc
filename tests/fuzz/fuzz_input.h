#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "pw/fields.h"
#include "pw/hardware_catalog.h"

namespace pw::fuzz {

// A file in memory for readers that take a path. It has a name, because readers look at it.
class InputFile {
 public:
  explicit InputFile(const std::string& name);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Replaces the content.
  const std::filesystem::path& write(std::string_view bytes) const;

 private:
  int memory_;
  std::filesystem::path path_;
};

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Runs a reader. True if it took the input, false if it refused it in the way that programs turn
// into a message: DataError, or overflow_error for sizes beyond int64. Everything else ends the
// process, which is a finding.
template <class Read>
bool takes(Read&& read) {
  try {
    read();
    return true;
  } catch (const DataError&) {
    return false;
  } catch (const std::overflow_error&) {
    return false;
  }
}

// Ends the process with the message when `holds` is false.
void require(bool holds, const char* message);

// The shipped GPUs.
const HardwareCatalog& catalog();

}  // namespace pw::fuzz
