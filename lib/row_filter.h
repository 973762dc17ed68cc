#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "io/csv_table.h"
#include "pw/dataset.h"

namespace pw {

// Whether a row of the table satisfies the filter or one of its alternatives.
bool keeps(const RowFilter& filter, const CsvTable& table, std::size_t row);

// The columns that the filter looks at; views into it.
void append_columns(const RowFilter& filter, std::vector<std::string_view>& columns);

}  // namespace pw
