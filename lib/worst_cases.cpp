#include "worst_cases.h"

#include <algorithm>
#include <numeric>

#include "io/csv_table.h"
#include "io/json_file.h"
#include "metrics.h"
#include "row_at_line.h"

namespace pw {
namespace {

struct Case {
  std::size_t row;  // in the data set
  float predicted;
  float error;
};

std::vector<Case> worst_cases(const Dataset& data, const std::vector<std::int64_t>& rows,
                              const std::vector<float>& predicted, std::size_t count) {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    cases.push_back({row, predicted[i],
                     relative_error(predicted[i], static_cast<float>(data.efficiency[row]))});
  }
  const auto end = cases.begin() + static_cast<std::ptrdiff_t>(std::min(count, cases.size()));
  std::partial_sort(cases.begin(), end, cases.end(), [](const Case& a, const Case& b) {
    return a.error != b.error ? a.error > b.error : a.row < b.row;
  });
  cases.erase(end, cases.end());
  return cases;
}

std::string cells_of(const CsvTable& table, std::size_t row,
                     const std::vector<std::string>& columns) {
  std::string line;
  for (const std::string& name : columns) {
    const std::size_t column = table.find_column(name);
    line += (column == CsvTable::npos ? "" : csv_cell(table.cell(row, column))) + ",";
  }
  return line;
}

}  // namespace

std::string worst_cases_csv(const Dataset& data, const std::vector<std::filesystem::path>& paths,
                            const std::vector<std::int64_t>& rows,
                            const std::vector<float>& predicted, std::size_t count) {
  const std::vector<Case> cases = worst_cases(data, rows, predicted, count);
  std::vector<std::string> columns;
  std::vector<std::string> lines(cases.size());
  std::vector<CsvTable> tables;
  for (const std::filesystem::path& path : paths) {
    tables.push_back(CsvTable::read(path));
    for (const std::string& name : tables.back().header()) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
        columns.push_back(name);
      }
    }
  }
  std::string csv;
  for (const std::string& name : columns) {
    csv += csv_cell(name) + ",";
  }
  csv += "predicted,rel_error\n";
  for (const Case& c : cases) {
    const CsvTable& table = tables[data.file[c.row]];
    csv += cells_of(table, row_at_line(table, data.line[c.row]), columns) +
           float32_repr(c.predicted) + "," + float32_repr(c.error) + "\n";
  }
  return csv;
}

}  // namespace pw
