#include "pw/dataset.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/sha256.h"
#include "peak_check.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr double kFeatureTolerance = 1e-9;
constexpr double kPeakMargin = 1.05;  // clocks above the nominal boost clock occur

// Why a row is left out.
struct Unusable {
  std::string reason;
  std::string example;
};

bool is_nan_or_infinity(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  text.erase(0, text.find_first_not_of("+-"));
  return text == "nan" || text == "inf" || text == "infinity";
}

double read_duration(const CsvRow& row) {
  const std::string column = "avg_duration";
  const std::string where = row.where(column);
  if (!row.has(column)) {
    throw Unusable{column + " is empty", where + " is empty"};
  }
  double duration_us = 0;
  try {
    duration_us = row.number(column);
  } catch (const DataError& error) {
    throw Unusable{
        column + (is_nan_or_infinity(row.text(column)) ? " is not finite" : " is not a number"),
        error.what()};
  }
  if (duration_us <= 0) {
    throw Unusable{column + " is not positive", where + ": found " + row.text(column)};
  }
  return duration_us;
}

bool differs(double found, double expected) {
  return std::abs(found - expected) >
         kFeatureTolerance * std::max(std::abs(found), std::abs(expected));
}

class DatasetReader {
 public:
  DatasetReader(const OperatorFamily& family, const HardwareCatalog& catalog,
                const AnalysisOptions& analysis, const std::vector<RowFilter>& filters)
      : catalog_(catalog) {
    data_.family = &family;
    data_.analysis = analysis;
    data_.filters = filters;
  }

  void read(const fs::path& path);
  Dataset take();

 private:
  struct Row {
    OperatorConfig config;
    PipelineFeatures features;
    const HardwareSpec* hardware;
    double duration_us;
  };

  bool is_selected(const CsvTable& table, std::size_t row);
  const HardwareSpec* find_hardware(const CsvRow& row);
  Row read_row(const CsvRow& row);
  void check_columns(const CsvRow& row, const Row& read) const;
  void append(const CsvTable& table, std::size_t number, const Row& row);
  std::uint64_t problem_of(const CsvTable& table, std::size_t row, std::uint32_t hardware);
  void drop(const std::string& reason, const std::string& example);
  void require_below_peak(const CsvTable& table) const;

  Dataset data_;
  const HardwareCatalog& catalog_;
  std::unordered_map<std::string, const HardwareSpec*> hardware_of_text_;
  std::unordered_map<const HardwareSpec*, std::uint32_t> hardware_index_;
  std::unordered_map<std::string, std::uint64_t> problem_numbers_;
  std::vector<std::string> compared_features_;  // columns of the present file, "" = not there
  std::int64_t rows_above_peak_ = 0;            // in the present file, as the next two
  std::size_t first_line_above_peak_ = 0;
  double highest_peak_fraction_ = 0;
};

void DatasetReader::read(const fs::path& path) {
  const CsvTable table = CsvTable::read(path);
  std::vector<std::string_view> required = data_.family->problem_columns;
  required.insert(required.end(), {"avg_duration", "hardware"});
  for (const RowFilter& filter : data_.filters) {
    required.push_back(filter.column);
  }
  table.require_columns(required);
  compared_features_.clear();
  for (const Feature& feature : *data_.family->features) {
    const bool present = table.find_column(feature.name) != CsvTable::npos;
    compared_features_.push_back(present ? std::string(feature.name) : "");
  }
  rows_above_peak_ = 0;
  highest_peak_fraction_ = 0;
  data_.files.push_back({path.filename().string(), sha256_hex(read_file(path)), 0, ""});
  for (const CsvTable::BadLine& bad : table.bad_lines()) {
    drop("wrong number of fields",
         path.string() + ":" + std::to_string(bad.line) + ": " + bad.reason);
  }
  for (std::size_t number = 0; number < table.rows(); ++number) {
    if (!is_selected(table, number)) {
      continue;
    }
    const CsvRow csv_row(table, number);
    try {
      const Row row = read_row(csv_row);
      check_columns(csv_row, row);
      append(table, number, row);
    } catch (const Unusable& unusable) {
      drop(unusable.reason, unusable.example);
    }
  }
  require_below_peak(table);
}

bool DatasetReader::is_selected(const CsvTable& table, std::size_t row) {
  for (const RowFilter& filter : data_.filters) {
    const std::string_view cell = table.cell(row, table.column(filter.column));
    const bool named =
        std::find(filter.values.begin(), filter.values.end(), cell) != filter.values.end();
    if (named == filter.exclude) {
      ++data_.dropped["not selected by " + to_string(filter)].rows;
      return false;
    }
  }
  return true;
}

const HardwareSpec* DatasetReader::find_hardware(const CsvRow& row) {
  if (!row.has("hardware")) {
    throw Unusable{"hardware is empty", row.where("hardware") + " is empty"};
  }
  const std::string text = row.text("hardware");
  const auto [found, is_new] = hardware_of_text_.try_emplace(text, nullptr);
  if (is_new) {
    found->second = catalog_.find(text);
  }
  if (!found->second) {
    try {
      catalog_.get(text);
    } catch (const DataError& error) {
      throw Unusable{"unknown GPU '" + text + "'", row.where("hardware") + ": " + error.what()};
    }
  }
  return found->second;
}

DatasetReader::Row DatasetReader::read_row(const CsvRow& csv_row) {
  Row row;
  row.duration_us = read_duration(csv_row);
  row.hardware = find_hardware(csv_row);
  try {
    row.config = data_.family->read(csv_row);
  } catch (const DataError& error) {
    throw Unusable{"no valid problem", error.what()};
  }
  const std::string place = csv_row.where(data_.family->problem_columns.front());
  try {
    row.features = analyze_operator(row.config, *row.hardware, data_.analysis);
  } catch (const DataError& error) {
    throw Unusable{"problem without features", place + ": " + error.what()};
  }
  if (!(ideal_cycles<double>(row.features) > 0)) {
    throw Unusable{"nothing to compute", place + ": " + describe(row.config)};
  }
  return row;
}

// The features that a file brings must be ours, or its model would be fitted on something else than
// what a prediction computes.
void DatasetReader::check_columns(const CsvRow& csv_row, const Row& row) const {
  const auto check = [&](const std::string& column, double expected) {
    const double found = csv_row.number(column);
    if (differs(found, expected)) {
      std::string message = csv_row.where(column) + " is " + csv_row.text(column) + ", but " +
                            describe(row.config) + " gives " + std::to_string(expected);
      throw DataError(message +
                      ": choose the analysis options or add the tile columns that the "
                      "file was made with, or remove its feature columns");
    }
  };
  const FeatureTable& features = *data_.family->features;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (!compared_features_[i].empty()) {
      check(compared_features_[i], features[i].of(row.features));
    }
  }
  if (csv_row.has("overall_perf")) {
    check("overall_perf",
          efficiency_of(ideal_cycles<double>(row.features), row.duration_us, *row.hardware));
  }
}

void DatasetReader::append(const CsvTable& table, std::size_t number, const Row& row) {
  const auto next_gpu = static_cast<std::uint32_t>(data_.hardware_names.size());
  const auto [gpu, is_new] = hardware_index_.try_emplace(row.hardware, next_gpu);
  if (is_new) {
    data_.hardware_names.push_back(row.hardware->name);
  }
  for (const Feature& feature : *data_.family->features) {
    data_.features.push_back(feature.of(row.features));
  }
  const double cycles = ideal_cycles<double>(row.features);
  data_.ideal_cycles.push_back(cycles);
  data_.duration_us.push_back(row.duration_us);
  data_.efficiency.push_back(efficiency_of(cycles, row.duration_us, *row.hardware));
  data_.hardware.push_back(gpu->second);
  data_.problem.push_back(problem_of(table, number, gpu->second));
  data_.file.push_back(static_cast<std::uint32_t>(data_.files.size() - 1));
  data_.line.push_back(table.line(number));
  ++data_.files.back().rows_used;

  const double peak = fraction_of_peak(row.config, row.features, row.duration_us, *row.hardware);
  if (peak > kPeakMargin && ++rows_above_peak_ == 1) {
    first_line_above_peak_ = table.line(number);
  }
  highest_peak_fraction_ = std::max(highest_peak_fraction_, peak);
}

std::uint64_t DatasetReader::problem_of(const CsvTable& table, std::size_t row,
                                        std::uint32_t hardware) {
  std::string key = std::to_string(hardware);
  for (const std::string_view column : data_.family->problem_columns) {
    key += ';';
    for (const char c : table.cell(row, table.column(column))) {
      if (c != ' ') {
        key += c;
      }
    }
  }
  return problem_numbers_.try_emplace(std::move(key), problem_numbers_.size()).first->second;
}

void DatasetReader::drop(const std::string& reason, const std::string& example) {
  DroppedRows& dropped = data_.dropped[reason];
  ++dropped.rows;
  if (dropped.examples.size() < DroppedRows::kMaxExamples) {
    dropped.examples.push_back(example);
  }
}

void DatasetReader::require_below_peak(const CsvTable& table) const {
  if (rows_above_peak_ > 0) {
    throw DataError(table.path().string() + ": faster than the hardware's peak in " +
                    std::to_string(rows_above_peak_) + " rows (first at line " +
                    std::to_string(first_line_above_peak_) + ", up to " +
                    std::to_string(highest_peak_fraction_) +
                    " times): are durations in microseconds?");
  }
}

Dataset DatasetReader::take() {
  if (data_.rows() == 0) {
    std::string names;
    for (const DataFile& file : data_.files) {
      names += (names.empty() ? "" : ", ") + file.name;
    }
    const std::string reasons = summary(data_.dropped);
    std::string message = names + ": no usable rows for operator " +
                          std::string(data_.family->name) + ": " +
                          (reasons.empty() ? "the file holds no row" : reasons);
    for (const auto& [reason, dropped] : data_.dropped) {
      if (!dropped.examples.empty()) {
        message += "; for example " + dropped.examples.front();
        break;
      }
    }
    throw DataError(message);
  }
  return std::move(data_);
}

}  // namespace

RowFilter parse_row_filter(std::string_view text) {
  RowFilter filter;
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0) {
    filter.exclude = text[equals - 1] == '!';
    filter.column = text.substr(0, equals - (filter.exclude ? 1 : 0));
  }
  if (filter.column.empty()) {
    throw DataError("row filter '" + std::string(text) +
                    "', expected column=value, column!=value or column=value|value");
  }
  std::string_view rest = text.substr(equals + 1);
  for (std::size_t bar = rest.find('|'); bar != std::string_view::npos; bar = rest.find('|')) {
    filter.values.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(bar + 1);
  }
  filter.values.emplace_back(rest);
  return filter;
}

std::string to_string(const RowFilter& filter) {
  std::string text = filter.column + (filter.exclude ? "!=" : "=");
  for (std::size_t i = 0; i < filter.values.size(); ++i) {
    text += (i == 0 ? "" : "|") + filter.values[i];
  }
  return text;
}

std::string row_place(const Dataset& data, std::size_t row) {
  return data.files[data.file[row]].name + ":" + std::to_string(data.line[row]);
}

std::string summary(const std::map<std::string, DroppedRows>& dropped) {
  std::string text;
  for (const auto& [reason, rows] : dropped) {
    text += (text.empty() ? "" : ", ") + std::to_string(rows.rows) + " " + reason;
  }
  return text;
}

Dataset read_dataset(const std::vector<fs::path>& paths, const OperatorFamily& family,
                     const HardwareCatalog& catalog, const AnalysisOptions& analysis,
                     const std::vector<RowFilter>& filters) {
  DatasetReader reader(family, catalog, analysis, filters);
  for (const fs::path& path : paths) {
    reader.read(path);
  }
  return reader.take();
}

}  // namespace pw
