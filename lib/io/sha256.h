#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pw {

enum class Sha256Method {
  fastest,   // the processor's SHA instructions where it has them
  portable,  // the same digest everywhere, for their tests
};

// FIPS 180-4 SHA-256 of bytes that come piece by piece.
class Sha256 {
 public:
  explicit Sha256(Sha256Method method = Sha256Method::fastest);
  void add(std::string_view bytes);
  // Of all that was added, as 64 lower-case hexadecimal digits.
  std::string hex() const;

  using State = std::array<std::uint32_t, 8>;

 private:
  using AddBlocks = void (*)(State&, const char*, std::size_t);
  AddBlocks add_blocks_;
  State state_;
  std::string tail_;  // less than a block
  std::uint64_t bytes_ = 0;
};

// The same of bytes that are there at once.
std::string sha256_hex(std::string_view bytes, Sha256Method method = Sha256Method::fastest);

}  // namespace pw
