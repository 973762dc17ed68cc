#pragma once

#include <cstdint>
#include <string_view>

namespace pw {

// The unsigned number in at most eight bytes, the lowest first.
inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  return number;
}

}  // namespace pw
