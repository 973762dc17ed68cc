#include "dataset_columns.h"

#include <algorithm>
#include <cmath>

#include "comma_list.h"
#include "io/numbers.h"

namespace pw {
namespace {

constexpr DurationUnit kDurationUnits[] = {DurationUnit::us, DurationUnit::ms, DurationUnit::s};

double us_per(DurationUnit unit) {
  switch (unit) {
    case DurationUnit::us:
      return 1;
    case DurationUnit::ms:
      return 1e3;
    case DurationUnit::s:
      return 1e6;
  }
  throw DataError("unknown duration unit");
}

}  // namespace

std::string_view to_string(DurationUnit unit) {
  switch (unit) {
    case DurationUnit::us:
      return "us";
    case DurationUnit::ms:
      return "ms";
    case DurationUnit::s:
      return "s";
  }
  throw DataError("unknown duration unit");
}

DurationUnit parse_duration_unit(std::string_view text) {
  for (const DurationUnit unit : kDurationUnits) {
    if (to_string(unit) == text) {
      return unit;
    }
  }
  throw DataError("duration unit '" + std::string(text) + "', expected us, ms or s");
}

const HardwareSpec* HardwareColumn::of(const CsvRow& row) {
  const std::string_view text = row.cell(column_);
  if (text.empty()) {
    throw UnusableRow{"hardware is empty", row.where(column_) + " is empty"};
  }
  auto found = of_text_.find(text);
  if (found == of_text_.end()) {
    const std::string name(text);
    found = of_text_.emplace(name, catalog_.find(name)).first;
  }
  if (!found->second) {
    try {
      catalog_.get(std::string(text));
    } catch (const DataError& error) {
      throw UnusableRow{"unknown GPU '" + std::string(text) + "'",
                        row.where(column_) + ": " + error.what()};
    }
  }
  return found->second;
}

DurationColumn find_duration_column(const CsvTable& table, std::optional<DurationUnit> stated) {
  std::vector<DurationColumn> found;
  const auto look_for = [&](const std::string& name, DurationUnit unit) {
    if (table.find_column(name) != CsvTable::npos) {
      found.push_back({name, unit});
    }
  };
  const std::string plain = DurationColumn{}.name;
  look_for(plain, stated.value_or(DurationUnit::us));
  for (const DurationUnit unit : kDurationUnits) {
    look_for(plain + "_" + std::string(to_string(unit)), unit);
    look_for("duration_" + std::string(to_string(unit)), unit);
  }
  if (found.empty()) {
    return {};
  }
  if (found.size() > 1) {
    throw DataError(table.path().string() + ": found the columns '" + found[0].name + "' and '" +
                    found[1].name + "', expected one duration: remove or rename the others");
  }
  if (stated && found[0].unit != *stated) {
    throw DataError(table.path().string() + ": column '" + found[0].name +
                    "' names its unit, but the duration unit was stated as " +
                    std::string(to_string(*stated)) + ": correct one of them");
  }
  return found[0];
}

double read_duration_us(const CsvRow& row, std::size_t column, DurationUnit unit) {
  const double duration_us = read_positive(row, column) * us_per(unit);
  if (!std::isfinite(duration_us)) {
    throw UnusableRow{row.name(column) + " is not finite",
                      row.where(column) + ": found " + std::string(row.cell(column))};
  }
  return duration_us;
}

double read_positive(const CsvRow& row, std::size_t column) {
  const std::string_view cell = row.cell(column);
  if (cell.empty()) {
    throw UnusableRow{row.name(column) + " is empty", row.where(column) + " is empty"};
  }
  double value = 0;
  try {
    value = row.number(column);
  } catch (const DataError& error) {
    const bool not_finite = parse_number(cell).has_value();
    throw UnusableRow{row.name(column) + (not_finite ? " is not finite" : " is not a number"),
                      error.what()};
  }
  if (value <= 0) {
    throw UnusableRow{row.name(column) + " is not positive",
                      row.where(column) + ": found " + std::string(cell)};
  }
  return value;
}

std::vector<std::size_t> feature_subset(const std::vector<std::string>& known,
                                        const std::vector<std::string>& wanted) {
  std::vector<bool> is_wanted(known.size(), wanted.empty());
  for (const std::string& name : wanted) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw UsageError("unknown feature '" + name + "', expected some of " + comma_list(known));
    }
    const auto place = static_cast<std::size_t>(found - known.begin());
    if (is_wanted[place]) {
      throw UsageError("feature '" + name + "' is named twice: name it once");
    }
    is_wanted[place] = true;
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (is_wanted[i]) {
      places.push_back(i);
    }
  }
  return places;
}

}  // namespace pw
