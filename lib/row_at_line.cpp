#include "row_at_line.h"

#include <string>

namespace pw {

std::size_t row_at_line(const CsvTable& table, std::size_t line) {
  std::size_t row = 0;
  std::size_t end = table.rows();
  while (row < end) {
    const std::size_t middle = row + (end - row) / 2;
    (table.line(middle) < line ? row : end) = table.line(middle) < line ? middle + 1 : middle;
  }
  if (row == table.rows() || table.line(row) != line) {
    throw DataError(table.path().string() + ": line " + std::to_string(line) +
                    " is gone: the file was changed while it was in use");
  }
  return row;
}

}  // namespace pw
