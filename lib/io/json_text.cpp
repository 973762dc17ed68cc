#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "io/json_file.h"
#include "io/numbers.h"

namespace pw {
namespace {

void require_finite(double value) {
  if (!std::isfinite(value)) {
    throw std::logic_error("a number to be written is not finite");
  }
}

void append_value(const Json& value, std::size_t indent, std::string& out);

// A line break and the indentation of `level` before each element, a comma between two.
template <class Append>
void append_elements(const Json& container, std::size_t indent, std::string& out, Append&& append) {
  constexpr std::size_t kStep = 2;
  const std::string line_start = "\n" + std::string(indent + kStep, ' ');
  const char* separator = "";
  for (auto element = container.begin(); element != container.end(); ++element) {
    out += separator + line_start;
    append(element);
    append_value(*element, indent + kStep, out);
    separator = ",";
  }
  if (!container.empty()) out += "\n" + std::string(indent, ' ');
}

void append_value(const Json& value, std::size_t indent, std::string& out) {
  constexpr bool kAsciiOnly = true;
  if (value.is_object()) {
    out += '{';
    append_elements(value, indent, out, [&](auto member) {
      out += Json(member.key()).dump(-1, ' ', kAsciiOnly) + ": ";
    });
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    append_elements(value, indent, out, [](auto) {});
    out += ']';
  } else if (value.is_number_float()) {
    out += python_repr(value.get<double>());
  } else {
    out += value.dump(-1, ' ', kAsciiOnly);
  }
}

// The shortest decimal that parses back to the same float or double.
template <class Number>
std::string shortest_text(Number value) {
  require_finite(static_cast<double>(value));
  constexpr double kSmallestFixed = 1e-4;
  constexpr double kSmallestLarge = 1e16;
  const double size = std::fabs(static_cast<double>(value));
  const bool fixed = value == 0 || (size >= kSmallestFixed && size < kSmallestLarge);
  std::array<char, 32> buffer;
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  const auto result = std::to_chars(buffer.begin(), buffer.end(), value, format);
  std::string text(buffer.begin(), result.ptr);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string to_json_text(const Json& value) {
  std::string text;
  append_value(value, 0, text);
  return text;
}

std::string python_repr(double value) { return shortest_text(value); }

std::string float32_repr(float value) { return shortest_text(value); }

double round_decimals(double value, int decimals) {
  require_finite(value);
  return through_text(value, std::chars_format::fixed, decimals);
}

}  // namespace pw
