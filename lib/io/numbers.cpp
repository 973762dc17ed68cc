#include "io/numbers.h"

#include <algorithm>
#include <string>

#include "io/text.h"

namespace pw {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// std::from_chars knows no plus sign.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return plus ? text.substr(1) : text;
}

template <class Number>
std::errc parse(std::string_view text, Number& number) {
  text = without_plus(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return end == text.data() + text.size() ? error : std::errc::invalid_argument;
}

// "13443.28205128205" at a third of the cost: digits below 2^53 and a power of ten up to 10^22 are
// exact as doubles, so that their quotient is rounded once (Clinger 1990). False for anything else.
bool read_short_decimal(std::string_view text, double& number) {
  constexpr std::size_t kMostCharacters = 18;  // whose digits fit 64 bits
  constexpr double kPowersOfTen[kMostCharacters] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                                    1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17};
  if (text.empty() || text.size() > kMostCharacters || !is_digit(text.front()) ||
      !is_digit(text.back())) {
    return false;
  }
  std::uint64_t digits = 0;
  std::size_t point = text.size() - 1;  // where it stands; at the last digit if there is none
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      digits = digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
    } else if (text[i] == '.' && point == text.size() - 1) {
      point = i;
    } else {
      return false;
    }
  }
  if (digits > std::uint64_t{1} << 53) return false;
  number = static_cast<double>(digits) / kPowersOfTen[text.size() - 1 - point];
  return true;
}

}  // namespace

std::errc read_number(std::string_view text, double& number) {
  return read_short_decimal(text, number) ? std::errc() : parse(text, number);
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  return read_number(text, number) == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t integer = 0;
  if (parse(text, integer) == std::errc()) return integer;
  const auto number = parse_number(text);
  return number ? exact_integer(*number) : std::nullopt;
}

std::optional<std::int64_t> parse_digits(std::string_view text) {
  std::int64_t integer = 0;
  const bool digits = std::all_of(text.begin(), text.end(), is_digit);
  return digits && parse(text, integer) == std::errc() ? std::optional(integer) : std::nullopt;
}

double through_text(double value, std::chars_format format, int digits) {
  // 309 digits before the point, a sign, the point and an exponent.
  std::string text(static_cast<std::size_t>(320 + digits), '\0');
  // to_chars rounds the exact binary value, ties to even, as Python's round does.
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr;
  return parse_number({text.data(), static_cast<std::size_t>(end - text.data())}).value();
}

}  // namespace pw
