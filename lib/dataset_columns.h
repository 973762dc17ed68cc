#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv_table.h"
#include "pw/dataset.h"
#include "pw/hardware_catalog.h"

namespace pw {

// Why a row is left out.
struct UnusableRow {
  std::string reason;
  std::string example;
};

// The GPUs that a column names, each text looked up once. Throws UnusableRow for an empty cell and
// a GPU that the catalog does not know.
class HardwareColumn {
 public:
  HardwareColumn(const HardwareCatalog& catalog, std::size_t column)
      : catalog_(catalog), column_(column) {}
  const HardwareSpec* of(const CsvRow& row);

 private:
  const HardwareCatalog& catalog_;
  std::size_t column_;
  std::map<std::string, const HardwareSpec*, std::less<>> of_text_;
};

// Where a file has its durations, and in what.
struct DurationColumn {
  std::string name = "avg_duration";
  DurationUnit unit = DurationUnit::us;
};
// Throws DataError when the file has several, or one whose header contradicts the stated unit. A
// file without any gets the usual name, for the message about columns that are absent.
DurationColumn find_duration_column(const CsvTable& table, std::optional<DurationUnit> stated);

// A finite number above 0, the duration in the unit of its column; both throw UnusableRow for
// anything else.
double read_positive(const CsvRow& row, std::size_t column);
double read_duration_us(const CsvRow& row, std::size_t column, DurationUnit unit);

// Where the wanted features stand among the known ones, in their order there; all if none is named.
// Throws DataError for an unknown name and one that is named twice.
std::vector<std::size_t> feature_subset(const std::vector<std::string>& known,
                                        const std::vector<std::string>& wanted);

}  // namespace pw
