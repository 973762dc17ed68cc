#pragma once

#include <cstdint>
#include <cstring>
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

// The same of exactly eight bytes, in one instruction.
inline std::uint64_t little_endian_word(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

}  // namespace pw
