#pragma once

#include <string>
#include <string_view>

namespace pw {

enum class Sha256Method {
  fastest,   // the processor's SHA instructions where it has them
  portable,  // the same digest everywhere, for their tests
};

// FIPS 180-4 SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes, Sha256Method method = Sha256Method::fastest);

}  // namespace pw
