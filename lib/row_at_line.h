#pragma once

#include "io/csv_table.h"

namespace pw {

// The row of a table that stands at a line of its file. Throws DataError when there is none.
std::size_t row_at_line(const CsvTable& table, std::size_t line);

}  // namespace pw
