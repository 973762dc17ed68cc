#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pw/comparison.h"

namespace pw {

// The values of one case in a CSV, in the order of the lines; an empty one is n/a.
struct CsvCase {
  std::string name;
  PerMetric<std::vector<std::optional<double>>> values;
};

// A file with both pred_ms and real_ms serves either side with that side's column.
enum class CsvSide { predicted, measured };

// A CSV with the columns case, metric and value_ms, or name and pred_ms (predicted) or real_ms
// (measured); the metric is then the total unless a column metric says otherwise. Cases in the
// order of their first lines.
std::vector<CsvCase> read_csv_values(const std::filesystem::path& path, CsvSide side,
                                     const Warn& warn);

}  // namespace pw
