#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sweep_evaluator.h"
#include "sweep_grid.h"

namespace pw {

enum class SweepFormat {
  csv,    // a header and a line per row
  jsonl,  // a JSON object per line with the same names
};
std::string_view to_string(SweepFormat format);
SweepFormat parse_sweep_format(std::string_view text);

// The columns with their units are in docs/sweep.md.
std::string sweep_header(SweepFormat format);  // with its line end; empty for JSON lines

// What the line of a row begins with, up to the columns that tell rows apart.
std::string row_start(SweepFormat format, const SweepGrid& grid, std::size_t row);
// The whole line with its end.
std::string row_text(SweepFormat format, const SweepGrid& grid, std::size_t row,
                     const SweepResult& result);

// In the order of FactKind.
std::vector<std::string_view> fact_names(const FactKinds& kinds);

}  // namespace pw
