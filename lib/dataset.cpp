#include "pw/dataset.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "dataset_columns.h"
#include "io/csv_table.h"
#include "io/files.h"
#include "io/sha256.h"
#include "peak_check.h"
#include "row_filter.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kHardwareColumn[] = "hardware";
constexpr double kFeatureTolerance = 1e-9;
// Clocks above the nominal boost clock occur. More than twice the peak cannot be a wrong number in
// the GPU's file (rates with and without sparsity), a unit of milliseconds can.
constexpr double kNotedPeakFraction = 1.05;
constexpr double kRefusedPeakFraction = 2;

std::string_view plural_name(DurationUnit unit) {
  return unit == DurationUnit::us   ? "microseconds"
         : unit == DurationUnit::ms ? "milliseconds"
                                    : "seconds";
}

bool differs(double found, double expected) {
  return std::abs(found - expected) >
         kFeatureTolerance * std::max(std::abs(found), std::abs(expected));
}

using GroupNumbers = std::unordered_map<std::string, std::uint64_t>;  // by the cells of a group

class DatasetReader {
 public:
  DatasetReader(const OperatorFamily& family, const HardwareCatalog& catalog,
                const DatasetOptions& options)
      : catalog_(catalog) {
    data_.family = &family;
    data_.options = options;
    const std::vector<std::string> known = feature_names(family, options.kind);
    features_ = feature_subset(known, options.features);
    for (const std::size_t feature : features_) {
      data_.feature_names.push_back(known[feature]);
    }
    if (data_.options.group_by.empty()) {
      data_.options.group_by.assign(family.problem_columns.begin(), family.problem_columns.end());
      data_.options.group_by.insert(data_.options.group_by.begin(), kHardwareColumn);
    }
  }

  void read(const fs::path& path);
  Dataset take();

 private:
  struct Row {
    OperatorConfig config;
    PipelineFeatures features;
    ModelInput input;
    const HardwareSpec* hardware;
    double duration_us;
    double weight;
  };

  bool is_selected(const CsvTable& table, std::size_t row);
  const HardwareSpec* find_hardware(const CsvRow& row);
  Row read_row(const CsvRow& row);
  void check_columns(const CsvRow& row, const Row& read) const;
  void append(const CsvTable& table, std::size_t number, const Row& row);
  std::uint64_t group_of(const CsvTable& table, std::size_t row, std::uint32_t hardware,
                         const std::vector<std::string>& columns, GroupNumbers& numbers) const;
  void drop(const std::string& reason, const std::string& example);
  void check_peak(const CsvTable& table);

  Dataset data_;
  const HardwareCatalog& catalog_;
  std::vector<std::size_t> features_;  // of all features of the family
  DurationColumn duration_;            // of the present file
  std::unordered_map<std::string, const HardwareSpec*> hardware_of_text_;
  std::unordered_map<const HardwareSpec*, std::uint32_t> hardware_index_;
  GroupNumbers problem_numbers_, hold_out_numbers_;
  std::set<std::string> layouts_;               // of attention rows
  std::vector<std::string> compared_features_;  // columns of the present file, "" = not there
  std::vector<std::pair<std::size_t, double>> above_peak_;  // line and factor, in the present file
};

void DatasetReader::read(const fs::path& path) {
  const CsvTable table = CsvTable::read(path);
  std::vector<std::string_view> required = data_.family->problem_columns;
  duration_ = find_duration_column(table, data_.options.duration_unit);
  required.insert(required.end(), {duration_.name, kHardwareColumn});
  if (!data_.options.weight_column.empty()) {
    required.push_back(data_.options.weight_column);
  }
  for (const auto* columns : {&data_.options.group_by, &data_.options.hold_out_by}) {
    required.insert(required.end(), columns->begin(), columns->end());
  }
  for (const RowFilter& filter : data_.options.filters) {
    append_columns(filter, required);
  }
  table.require_columns(required);
  compared_features_.clear();
  for (const Feature& feature : *data_.family->features) {
    const bool present = table.find_column(feature.name) != CsvTable::npos;
    compared_features_.push_back(present ? std::string(feature.name) : "");
  }
  above_peak_.clear();
  data_.files.push_back({path.filename().string(), sha256_hex(read_file(path)), 0, "",
                         std::string(to_string(duration_.unit))});
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
    } catch (const UnusableRow& unusable) {
      drop(unusable.reason, unusable.example);
    }
  }
  check_peak(table);
}

bool DatasetReader::is_selected(const CsvTable& table, std::size_t row) {
  for (const RowFilter& filter : data_.options.filters) {
    if (!keeps(filter, table, row)) {
      ++data_.dropped["not selected by " + to_string(filter)].rows;
      return false;
    }
  }
  return true;
}

const HardwareSpec* DatasetReader::find_hardware(const CsvRow& row) {
  if (!row.has("hardware")) {
    throw UnusableRow{"hardware is empty", row.where("hardware") + " is empty"};
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
      throw UnusableRow{"unknown GPU '" + text + "'", row.where("hardware") + ": " + error.what()};
    }
  }
  return found->second;
}

DatasetReader::Row DatasetReader::read_row(const CsvRow& csv_row) {
  Row row;
  row.duration_us = read_duration_us(csv_row, duration_);
  const std::string& weight = data_.options.weight_column;
  row.weight = weight.empty() ? 1 : read_positive(csv_row, weight);
  row.hardware = find_hardware(csv_row);
  try {
    row.config = data_.family->read(csv_row);
    if (auto* gemm = std::get_if<GemmConfig>(&row.config);
        gemm != nullptr && data_.options.weight_copies && !csv_row.has("weight_copies")) {
      gemm->weight_copies = *data_.options.weight_copies;
    }
  } catch (const DataError& error) {
    throw UnusableRow{"no valid problem", error.what()};
  }
  const std::string place = csv_row.where(data_.family->problem_columns.front());
  try {
    row.features = analyze_operator(row.config, *row.hardware, data_.options.analysis);
    row.input = data_.options.kind == ModelKind::efficiency
                    ? efficiency_input(row.features, *data_.family, *row.hardware)
                    : model_input(row.config, *row.hardware, ModelKind::log_ratio, {});
  } catch (const DataError& error) {
    throw UnusableRow{"problem without features", place + ": " + error.what()};
  }
  if (!(ideal_cycles<double>(row.features) > 0)) {
    throw UnusableRow{"nothing to compute", place + ": " + describe(row.config)};
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
  for (const std::size_t feature : features_) {
    data_.features.push_back(row.input.features[feature]);
  }
  if (!data_.options.weight_column.empty()) {
    data_.weight.push_back(row.weight);
  }
  data_.reference_us.push_back(row.input.reference_us);
  if (data_.options.keep_roofline) {
    data_.roofline.push_back(roofline(row.config, *row.hardware));
  }
  const double cycles = ideal_cycles<double>(row.features);
  data_.duration_us.push_back(row.duration_us);
  data_.efficiency.push_back(efficiency_of(cycles, row.duration_us, *row.hardware));
  data_.hardware.push_back(gpu->second);
  const DatasetOptions& options = data_.options;
  data_.problem.push_back(group_of(table, number, gpu->second, options.group_by, problem_numbers_));
  if (!options.hold_out_by.empty()) {
    data_.hold_out_group.push_back(
        group_of(table, number, gpu->second, options.hold_out_by, hold_out_numbers_));
  }
  data_.file.push_back(static_cast<std::uint32_t>(data_.files.size() - 1));
  data_.line.push_back(table.line(number));
  ++data_.files.back().rows_used;

  if (const auto* attention = std::get_if<AttentionConfig>(&row.config)) {
    layouts_.insert(attention->layout == KvLayout::paged ? "paged" : "ragged");
  }
  const double peak = fraction_of_peak(row.config, row.features, row.duration_us, *row.hardware);
  if (peak > kNotedPeakFraction) {
    above_peak_.emplace_back(table.line(number), peak);
  }
}

std::uint64_t DatasetReader::group_of(const CsvTable& table, std::size_t row,
                                      std::uint32_t hardware,
                                      const std::vector<std::string>& columns,
                                      GroupNumbers& numbers) const {
  std::string key;
  for (const std::string& column : columns) {
    key += column == kHardwareColumn
               ? std::to_string(hardware)
               : same_text_for_same_value(table.cell(row, table.column(column)));
    key += '\n';  // stands in no cell
  }
  return numbers.try_emplace(std::move(key), numbers.size()).first->second;
}

void DatasetReader::drop(const std::string& reason, const std::string& example) {
  DroppedRows& dropped = data_.dropped[reason];
  ++dropped.rows;
  if (dropped.examples.size() < DroppedRows::kMaxExamples) {
    dropped.examples.push_back(example);
  }
}

void DatasetReader::check_peak(const CsvTable& table) {
  if (above_peak_.empty()) {
    return;
  }
  const auto fastest =
      std::max_element(above_peak_.begin(), above_peak_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string message = table.path().string() + ": faster than the hardware's peak in " +
                              std::to_string(above_peak_.size()) + " rows (first at line " +
                              std::to_string(above_peak_.front().first) + ", up to " +
                              std::to_string(fastest->second) + " times at line " +
                              std::to_string(fastest->first) + ")";
  if (fastest->second > kRefusedPeakFraction) {
    throw DataError(message + ": are durations in " + std::string(plural_name(duration_.unit)) +
                    "?");
  }
  data_.notes.push_back(message);
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
  if (layouts_.size() == 1) {
    data_.attention_layout = *layouts_.begin();
  }
  return std::move(data_);
}

}  // namespace

Dataset read_dataset(const std::vector<fs::path>& paths, const OperatorFamily& family,
                     const HardwareCatalog& catalog, const DatasetOptions& options) {
  DatasetReader reader(family, catalog, options);
  for (const fs::path& path : paths) {
    reader.read(path);
  }
  return reader.take();
}

}  // namespace pw
