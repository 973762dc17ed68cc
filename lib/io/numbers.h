#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

// Every number that stands as text in a file or an option is read here, by one rule. A number fills
// its whole text: no blanks around it, no unit behind it. A decimal point is a point and no digits
// are grouped, in every locale. One sign, plus or minus, may stand first. "16", "16.", ".5",
// "1.6e1" and "1.6E+01" are numbers, hexadecimal ones are not. "inf", "infinity" and "nan" in any
// case are numbers that are not finite; who needs finite ones checks. A decimal is rounded once, to
// the nearest double; what lies beyond the range of doubles is no number. (JSON has its own rule,
// and its own reader.)
namespace pw {

// errc() and the number; invalid_argument for what is no number, result_out_of_range for one beyond
// the range of doubles.
std::errc read_number(std::string_view text, double& number);
std::optional<double> parse_number(std::string_view text);

// An integer, also as "16.0" or "1.6e1": exact, or none (text.h: exact_integer).
std::optional<std::int64_t> parse_integer(std::string_view text);

// Decimal digits alone, for numbers that are part of a name or pattern ("tp8", "3/16").
std::optional<std::int64_t> parse_digits(std::string_view text);

// The finite value written with that many digits behind the point and read again, that is rounded
// exactly, ties of the binary value to even.
double through_text(double value, std::chars_format format, int digits);

}  // namespace pw
