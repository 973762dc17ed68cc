#pragma once

#include <cstdint>
#include <stdexcept>

namespace pw {

// Quotient rounded towards plus infinity, b > 0; a may be negative.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}

// Products and sums of sizes. Sizes come from users and exceed 2^63 when they are nonsense, so an
// overflow is an error and never a wrapped number.
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw std::overflow_error("a size or operation count exceeds 2^63");
  }
  return product;
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw std::overflow_error("a size or operation count exceeds 2^63");
  }
  return sum;
}

template <class... Rest>
std::int64_t checked_mul(std::int64_t a, std::int64_t b, Rest... rest) {
  return checked_mul(checked_mul(a, b), static_cast<std::int64_t>(rest)...);
}

}  // namespace pw
