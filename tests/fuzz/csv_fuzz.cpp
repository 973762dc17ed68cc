// CsvTable and CsvRow on any bytes; a table that is written again reads as the same table, and a
// number is what the standard library reads.
#include <charconv>
#include <cmath>

#include "fuzz_input.h"
#include "io/csv_table.h"
#include "io/numbers.h"

namespace pw {
namespace {

std::optional<double> reference_number(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '+' && cell[1] != '-') cell.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  const bool is_number = error == std::errc() && end == cell.data() + cell.size();
  return is_number ? std::optional(number) : std::nullopt;
}

void require_same_number(std::string_view cell) {
  const auto found = parse_number(cell), expected = reference_number(cell);
  fuzz::require(found.has_value() == expected.has_value(), "what is a number");
  if (!found || (std::isnan(*found) && std::isnan(*expected))) return;
  fuzz::require(*found == *expected && std::signbit(*found) == std::signbit(*expected),
                "a number is what the standard library reads");
}

void read_as_every_type(const CsvTable& table) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const CsvRow fields(table, row);
    for (const std::string& name : table.header()) {
      require_same_number(fields.cell(table.column(name)));
      fuzz::takes([&] { fields.integer(name); });
      fuzz::takes([&] { fields.number(name); });
      fuzz::takes([&] { fields.flag(name); });
      fuzz::takes([&] { fields.text(name); });
      fuzz::takes([&] { fields.integers(name); });
    }
  }
}

// Quoted always: an empty cell of a table with one column would be a blank line.
std::string quoted(std::string_view text) {
  const std::string cell = csv_cell(text);
  return cell.empty() || cell.front() != '"' ? '"' + cell + '"' : cell;
}

std::string written(const CsvTable& table) {
  std::string text = "\xEF\xBB\xBF";
  const auto add = [&](std::size_t column, std::string_view cell) {
    text += (column > 0 ? "," : "") + quoted(cell);
  };
  for (std::size_t i = 0; i < table.header().size(); ++i) add(i, table.header()[i]);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    text += '\n';
    for (std::size_t i = 0; i < table.header().size(); ++i) add(i, table.cell(row, i));
  }
  return text;
}

void require_same(const CsvTable& a, const CsvTable& b) {
  fuzz::require(a.header() == b.header(), "the header stays when a table is written and read");
  fuzz::require(a.rows() == b.rows(), "the rows stay when a table is written and read");
  for (std::size_t row = 0; row < a.rows(); ++row) {
    for (std::size_t i = 0; i < a.header().size(); ++i) {
      fuzz::require(a.cell(row, i) == b.cell(row, i), "a cell stays when it is written and read");
    }
  }
}

}  // namespace
}  // namespace pw

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("input.csv");
  static const fuzz::InputFile copy("copy.csv");
  fuzz::takes([&] {
    const CsvTable table = CsvTable::read(input.write(fuzz::as_text(data, size)));
    read_as_every_type(table);
    fuzz::takes([&] { table.require_no_bad_lines(); });
    std::optional<CsvTable> again;
    const bool readable = fuzz::takes([&] { again = CsvTable::read(copy.write(written(table))); });
    fuzz::require(readable, "a table that was read can be written and read");
    require_same(table, *again);
  });
  return 0;
}
