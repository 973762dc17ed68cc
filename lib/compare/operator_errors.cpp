#include "pw/operator_errors.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "comma_list.h"
#include "compare/format.h"
#include "compare/run_rule.h"
#include "io/csv_table.h"
#include "io/json_file.h"
#include "io/numbers.h"
#include "pw/operators.h"
#include "statistics.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPredicted = "predicted_duration_us";
constexpr std::string_view kMeasured = "avg_duration";
constexpr std::string_view kHardware = "hardware";

bool has_column(const CsvTable& csv, std::string_view name) {
  return csv.find_column(name) != CsvTable::npos;
}

std::optional<double> duration_in(std::string_view cell) {
  const auto value = parse_number(cell);
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

// The columns that say which problem a row is: those of the largest family that both files have.
std::vector<std::string_view> problem_columns(const CsvTable& a, const CsvTable& b) {
  std::vector<std::string_view> columns;
  std::vector<std::string> expected;
  for (const OperatorFamily& family : operator_families()) {
    const auto& wanted = family.problem_columns;
    const bool both = std::all_of(wanted.begin(), wanted.end(), [&](std::string_view name) {
      return has_column(a, name) && has_column(b, name);
    });
    if (both && wanted.size() > columns.size()) columns = wanted;
    expected.push_back(std::string(family.name) + " (" + comma_list(wanted) + ")");
  }
  if (columns.empty()) {
    throw DataError(
        a.path().string() + " and " + b.path().string() +
        " do not both have the problem columns of an operator: " + comma_list(expected));
  }
  if (has_column(a, kHardware) != has_column(b, kHardware)) {
    throw DataError((has_column(a, kHardware) ? b : a).path().string() +
                    " has no column hardware but the other file has, expected it in both or "
                    "neither");
  }
  return columns;
}

std::string hardware_of(const CsvTable& csv, std::size_t row, const HardwareCatalog& catalog) {
  if (!has_column(csv, kHardware)) return "";
  const std::string name(csv.cell(row, csv.column(kHardware)));
  const HardwareSpec* spec = catalog.find(name);
  return spec != nullptr ? spec->name : name;
}

// The problem of a row as text; numbers in one spelling, "16" and "16.0" alike.
std::string key_of(const CsvTable& csv, std::size_t row,
                   const std::vector<std::string_view>& columns, const HardwareCatalog& catalog) {
  std::string key = hardware_of(csv, row, catalog);
  for (const std::string_view column : columns) {
    const std::string_view cell = csv.cell(row, csv.column(column));
    const auto number = parse_number(cell);
    key += '\n';
    key += number && std::isfinite(*number) ? python_repr(*number) : std::string(cell);
  }
  return key;
}

using Predictions = std::map<std::string, std::optional<double>>;  // empty: unusable

Predictions read_predicted(const CsvTable& csv, const std::vector<std::string_view>& columns,
                           const HardwareCatalog& catalog) {
  Predictions predictions;
  const std::size_t column = csv.column(kPredicted);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const auto duration = duration_in(csv.cell(row, column));
    const auto [place, added] = predictions.emplace(key_of(csv, row, columns, catalog), duration);
    if (!added && place->second != duration) {
      throw DataError(CsvRow(csv, row).where(kPredicted) + " is '" +
                      std::string(csv.cell(row, column)) +
                      "', but an earlier line predicts the same problem differently; expected one "
                      "prediction per problem");
    }
  }
  return predictions;
}

struct Sample {
  std::string hardware;
  double measured_us = 0;
  double error = 0;  // signed, %
};

// "10-100 us", and the exponent that sorts it.
int decade_of(double us) { return static_cast<int>(std::floor(std::log10(us))); }
std::string decade_name(int decade) {
  const auto power = [](int exponent) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::pow(10.0, exponent));
    return std::string(text);
  };
  return power(decade) + "-" + power(decade + 1) + " us";
}

OperatorErrorGroup summarise(const std::string& scope, const std::string& name,
                             const std::vector<double>& signed_errors) {
  OperatorErrorGroup group{scope, name, signed_errors.size()};
  std::vector<double> absolute;
  for (const double error : signed_errors) absolute.push_back(std::fabs(error));
  const auto share_under = [&](double limit) {
    const auto under = std::count_if(absolute.begin(), absolute.end(),
                                     [&](double error) { return error < limit; });
    return 100 * static_cast<double>(under) / static_cast<double>(absolute.size());
  };
  group.mean = mean(absolute);
  group.median = median(absolute);
  group.p95 = quantile(absolute, 0.95);
  group.bias = mean(signed_errors);
  group.under_10 = share_under(10);
  group.under_20 = share_under(20);
  group.under_50 = share_under(50);
  return group;
}

std::vector<OperatorErrorGroup> groups_of(const std::vector<Sample>& samples) {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_gpu;
  std::map<int, std::vector<double>> by_size;
  for (const Sample& sample : samples) {
    all.push_back(sample.error);
    if (!sample.hardware.empty()) by_gpu[sample.hardware].push_back(sample.error);
    by_size[decade_of(sample.measured_us)].push_back(sample.error);
  }
  std::vector<OperatorErrorGroup> groups{summarise("all", "", all)};
  for (const auto& [gpu, errors] : by_gpu) groups.push_back(summarise("gpu", gpu, errors));
  for (const auto& [decade, errors] : by_size) {
    groups.push_back(summarise("size", decade_name(decade), errors));
  }
  return groups;
}

}  // namespace

OperatorErrors compare_operators(const fs::path& predicted, const std::optional<fs::path>& measured,
                                 const HardwareCatalog& catalog) {
  const CsvTable predictions_csv = CsvTable::read(predicted);
  predictions_csv.require_no_bad_lines();
  predictions_csv.require_columns({kPredicted});
  std::optional<CsvTable> other_csv;
  if (measured) other_csv = CsvTable::read(*measured);
  const CsvTable& measured_csv = other_csv ? *other_csv : predictions_csv;
  measured_csv.require_no_bad_lines();
  measured_csv.require_columns({kMeasured});
  const auto columns = problem_columns(predictions_csv, measured_csv);
  // Rows of one file belong together as they stand.
  const bool joined = measured.has_value();
  const Predictions predictions =
      joined ? read_predicted(predictions_csv, columns, catalog) : Predictions{};

  OperatorErrors errors;
  errors.rows = measured_csv.rows();
  std::vector<Sample> samples;
  std::map<std::string, std::size_t> left_out;
  for (std::size_t row = 0; row < measured_csv.rows(); ++row) {
    const auto real = duration_in(measured_csv.cell(row, measured_csv.column(kMeasured)));
    std::optional<double> prediction;
    if (joined) {
      const auto found = predictions.find(key_of(measured_csv, row, columns, catalog));
      if (found == predictions.end()) {
        ++left_out["no prediction of this problem"];
        continue;
      }
      prediction = found->second;
    } else {
      prediction = duration_in(measured_csv.cell(row, measured_csv.column(kPredicted)));
    }
    if (!real || !prediction) {
      ++left_out[!real ? "measured duration is no number above 0"
                       : "predicted duration is no number above 0"];
      continue;
    }
    samples.push_back(
        {hardware_of(measured_csv, row, catalog), *real, signed_error_percent(*prediction, *real)});
  }
  errors.compared = samples.size();
  errors.left_out.assign(left_out.begin(), left_out.end());
  if (samples.empty()) {
    throw DataError(measured_csv.path().string() +
                    ": no row has both a measured and a predicted duration of the same problem");
  }
  errors.groups = groups_of(samples);
  return errors;
}

std::string operator_errors_text(const OperatorErrors& errors) {
  TextTable table{
      {"by", "group", "rows", "mean %", "median %", "p95 %", "bias %", "<10 %", "<20 %", "<50 %"}};
  for (const OperatorErrorGroup& g : errors.groups) {
    table.push_back({g.scope, g.group, std::to_string(g.n), fixed(g.mean, 2), fixed(g.median, 2),
                     fixed(g.p95, 2), fixed(g.bias, 2), fixed(g.under_10, 1), fixed(g.under_20, 1),
                     fixed(g.under_50, 1)});
  }
  std::string text = "Errors in % of the measured duration, " + std::to_string(errors.compared) +
                     " of " + std::to_string(errors.rows) +
                     " measured rows; under x %: share of rows in %\n\n" +
                     plain_table(table, 2, "");
  for (const auto& [reason, count] : errors.left_out) {
    text += "excluded: " + std::to_string(count) + " rows: " + reason + "\n";
  }
  return text;
}

std::string operator_errors_csv(const OperatorErrors& errors) {
  std::string text =
      "scope,group,rows,mean(%),median(%),p95(%),bias(%),under_10(%),under_20(%),under_50(%)\n";
  for (const OperatorErrorGroup& g : errors.groups) {
    text += g.scope + "," + csv_cell(g.group) + "," + std::to_string(g.n);
    for (const double value :
         {g.mean, g.median, g.p95, g.bias, g.under_10, g.under_20, g.under_50}) {
      text += "," + shortest(value, 4);
    }
    text += "\n";
  }
  return text;
}

}  // namespace pw
