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

// A CSV with the columns case, metric and value_ms, or name and pred_ms or real_ms (the metric is
// then the total unless a column metric says otherwise). Cases in the order of their first lines.
std::vector<CsvCase> read_csv_values(const std::filesystem::path& path, const Warn& warn);

}  // namespace pw
