#include <charconv>
#include <cmath>
#include <optional>

#include "io/csv_table.h"
#include "io/text.h"

namespace pw {
namespace {

// std::from_chars knows no plus sign.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return plus ? text.substr(1) : text;
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  text = without_plus(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "13443.28205128205" at a third of the cost: digits below 2^53 and a power of ten up to 10^22 are
// exact as doubles, so that their quotient is rounded once (Clinger 1990). False for anything else.
bool read_short_decimal(std::string_view text, double& number) {
  constexpr std::size_t kMostCharacters = 18;  // whose digits fit 64 bits
  constexpr double kPowersOfTen[kMostCharacters] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                                    1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
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

// The number that fills the whole text, if one does.
bool read_number(std::string_view text, double& number) {
  return read_short_decimal(text, number) || parse(text, number);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t integer = 0;
  if (parse(text, integer)) return integer;
  double number = 0;
  return read_number(text, number) ? exact_integer(number) : std::nullopt;
}

[[noreturn]] void throw_unexpected(const std::string& where, std::string_view found,
                                   const std::string& expected) {
  throw DataError(where + " is " + shown(found) + ", expected " + expected);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  return read_number(text, number) ? std::optional(number) : std::nullopt;
}

bool CsvRow::has(std::string_view name) const {
  const std::size_t column = table_.find_column(name);
  return column != CsvTable::npos && !table_.cell(row_, column).empty();
}

std::int64_t CsvRow::integer(std::string_view name) const {
  const std::string_view cell = value(name);
  if (const auto number = parse_integer(cell)) return *number;
  throw_unexpected(where(name), cell, "an integer");
}

double CsvRow::number(std::string_view name) const { return number(table_.column(name)); }

double CsvRow::number(std::size_t column) const {
  const std::string_view text = cell(column);
  if (text.empty()) throw DataError(where(column) + " is empty");
  double number = 0;
  if (!read_number(text, number) || !std::isfinite(number)) {
    throw_unexpected(where(column), text, "a finite number");
  }
  return number;
}

bool CsvRow::flag(std::string_view name) const {
  const std::string_view cell = value(name);
  if (cell == "1" || cell == "true" || cell == "True") return true;
  if (cell == "0" || cell == "false" || cell == "False") return false;
  throw_unexpected(where(name), cell, "0, 1, true or false");
}

std::string CsvRow::text(std::string_view name) const { return std::string(value(name)); }

std::vector<std::int64_t> CsvRow::integers(std::string_view name) const {
  const std::string_view cell = value(name);
  if (cell.size() < 2 || cell.front() != '[' || cell.back() != ']') {
    throw_unexpected(where(name), cell, "a list of integers such as [1,2]");
  }
  std::string_view rest = trimmed(cell.substr(1, cell.size() - 2));
  std::vector<std::int64_t> numbers;
  while (!rest.empty() || !numbers.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view element = trimmed(rest.substr(0, comma));
    const auto number = parse_integer(element);
    if (!number) {
      throw_unexpected(where(name) + ", element " + std::to_string(numbers.size() + 1), element,
                       "an integer");
    }
    numbers.push_back(*number);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return numbers;
}

std::string CsvRow::where(std::string_view name) const {
  return table_.path().string() + ":" + std::to_string(table_.line(row_)) + ": column '" +
         std::string(name) + "'";
}

std::string_view CsvRow::value(std::string_view name) const {
  const std::string_view cell = table_.cell(row_, table_.column(name));
  if (cell.empty()) throw DataError(where(name) + " is empty");
  return cell;
}

std::string csv_cell(std::string_view text) {
  const bool blank_end = !text.empty() && text != trimmed(text);
  if (!blank_end && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

}  // namespace pw
