#include <cmath>

#include "io/csv_table.h"
#include "io/numbers.h"
#include "io/text.h"

namespace pw {
namespace {

[[noreturn]] void throw_unexpected(const std::string& where, std::string_view found,
                                   const std::string& expected) {
  throw DataError(where + " is " + shown(found) + ", expected " + expected);
}

}  // namespace

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
  if (read_number(text, number) != std::errc() || !std::isfinite(number)) {
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
