#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv_table.h"
#include "pw/dataset.h"

namespace pw {

// Why a row is left out.
struct UnusableRow {
  std::string reason;
  std::string example;
};

// Where a file has its durations, and in what.
struct DurationColumn {
  std::string name = "avg_duration";
  DurationUnit unit = DurationUnit::us;
};
// Throws DataError when the file has several, or one whose header contradicts the stated unit. A
// file without any gets the usual name, for the message about columns that are absent.
DurationColumn find_duration_column(const CsvTable& table, std::optional<DurationUnit> stated);
double read_duration_us(const CsvRow& row, const DurationColumn& column);

// A finite number above 0; throws UnusableRow for anything else.
double read_positive(const CsvRow& row, const std::string& column);

// "16" for "16.0", "[6,70]" for "[ 6, 70 ]": a group must not fall apart over how it is written.
std::string same_text_for_same_value(std::string_view cell);

// Where the wanted features stand among the known ones, in their order there; all if none is named.
// Throws DataError for an unknown name and one that is named twice.
std::vector<std::size_t> feature_subset(const std::vector<std::string>& known,
                                        const std::vector<std::string>& wanted);

}  // namespace pw
