#include "compare/csv_values.h"

#include <algorithm>

#include "compare/tolerant_json.h"
#include "io/csv_table.h"
#include "io/numbers.h"
#include "io/text.h"

namespace pw {
namespace {

// The first of `names` that the table has.
std::optional<std::string> column_of(const CsvTable& csv,
                                     const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    if (csv.find_column(name) != CsvTable::npos) return std::string(name);
  }
  return std::nullopt;
}

std::optional<double> value_of(const CsvTable& csv, std::size_t row, const std::string& column,
                               const Warn& warn) {
  const std::string_view cell = csv.cell(row, csv.column(column));
  const auto value = parse_number(cell);
  if (value && is_usable_ms(*value)) return value;
  warn(CsvRow(csv, row).where(column) + " is " + (cell.empty() ? "empty" : shown(cell)) +
       ", not a number above 0: n/a");
  return std::nullopt;
}

}  // namespace

std::vector<CsvCase> read_csv_values(const std::filesystem::path& path, CsvSide side,
                                     const Warn& warn) {
  const CsvTable csv = CsvTable::read(path);
  csv.require_no_bad_lines();
  const auto name = column_of(csv, {"case", "name"});
  const char* own = side == CsvSide::predicted ? "pred_ms" : "real_ms";
  const auto value = column_of(csv, {own, "value_ms"});
  if (!value) {
    throw DataError(path.string() + " has no column of " +
                    (side == CsvSide::predicted ? "predicted" : "measured") + " times, expected " +
                    own + " or value_ms, in milliseconds");
  }
  const bool has_metric = csv.find_column("metric") != CsvTable::npos;
  if (!name || (*value == "value_ms" && !has_metric)) {
    csv.require_columns({"case", "metric", "value_ms"});  // names what is absent
  }
  std::vector<CsvCase> cases;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    const std::string text = fields.text(*name);
    const auto metric = has_metric ? find_metric(fields.text("metric")) : Metric::total;
    if (!metric) {
      throw DataError(fields.where("metric") + " is " + shown(fields.text("metric")) +
                      ", expected prefill (ttft), decode (tpot) or total (e2e)");
    }
    auto found = std::find_if(cases.begin(), cases.end(),
                              [&](const CsvCase& each) { return each.name == text; });
    if (found == cases.end()) found = cases.insert(cases.end(), CsvCase{text, {}});
    found->values[*metric].push_back(value_of(csv, row, *value, warn));
  }
  if (cases.empty()) throw DataError(path.string() + " has no data rows, expected at least one");
  return cases;
}

}  // namespace pw
