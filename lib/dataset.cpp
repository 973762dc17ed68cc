#include "pw/dataset.h"

#include <algorithm>
#include <list>
#include <memory_resource>
#include <set>
#include <unordered_map>
#include <utility>

#include "dataset_columns.h"
#include "dataset_rows.h"
#include "io/csv_table.h"
#include "parallel.h"
#include "row_filter.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kHardwareColumn[] = "hardware";
// Clocks above the nominal boost clock occur. More than twice the peak cannot be a wrong number in
// the GPU's file (rates with and without sparsity), a unit of milliseconds can.
constexpr double kNotedPeakFraction = 1.05;
constexpr double kRefusedPeakFraction = 2;

std::string_view plural_name(DurationUnit unit) {
  return unit == DurationUnit::us   ? "microseconds"
         : unit == DurationUnit::ms ? "milliseconds"
                                    : "seconds";
}

// Numbers the groups in the order in which they are first met.
class GroupNumbers {
 public:
  explicit GroupNumbers(std::vector<std::uint64_t>& numbers) : numbers_(numbers) {}

  void append(std::string_view group) {
    numbers_.push_back(known_.try_emplace(group, known_.size()).first->second);
  }
  // Expects that many rows in all.
  void reserve(std::size_t rows) {
    numbers_.reserve(rows);
    known_.reserve(rows);
  }

 private:
  std::vector<std::uint64_t>& numbers_;
  std::pmr::monotonic_buffer_resource memory_;  // most rows are a group of their own
  std::pmr::unordered_map<std::string_view, std::uint64_t> known_{&memory_};
};

class DatasetReader {
 public:
  DatasetReader(const OperatorFamily& family, const HardwareCatalog& catalog,
                const DatasetOptions& options)
      : catalog_(catalog), problems_(data_.problem), hold_out_groups_(data_.hold_out_group) {
    data_.family = &family;
    data_.options = options;
    const std::vector<std::string> known = feature_names(family, options.kind);
    kept_features_ = feature_subset(known, options.features);
    for (const std::size_t feature : kept_features_) {
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
  void reserve(std::size_t rows);
  RowContext context_of(const CsvTable& file) const;  // without its rows
  void append(EvaluatedRows&& rows);
  void append(const UsedRow& row, std::string_view group_text);
  void check_peak(const fs::path& path, DurationUnit unit);

  Dataset data_;
  const HardwareCatalog& catalog_;
  std::vector<std::size_t> kept_features_;  // of all features of the family
  std::unordered_map<const HardwareSpec*, std::uint32_t> hardware_index_;
  std::size_t reserved_rows_ = 0;
  std::list<std::string> group_texts_;  // what the groups' names are views into
  GroupNumbers problems_, hold_out_groups_;
  std::set<std::string_view> layouts_;                      // of attention rows
  std::set<double> operand_copies_;                         // of all rows
  std::vector<std::pair<std::size_t, double>> above_peak_;  // line and factor, in the present file
};

void DatasetReader::read(const fs::path& path) {
  constexpr std::size_t kLinesOfAPart = 256;  // whose cells stay in a processor's cache
  CsvReader file(path, Digest::sha256);
  const RowContext context = context_of(file.header());
  data_.files.push_back(
      {path.filename().string(), "", 0, "", std::string(to_string(context.duration_unit))});
  above_peak_.clear();
  bool is_first = true;
  in_order(
      [&] {
        auto lines = file.next(kLinesOfAPart);
        if (std::exchange(is_first, false)) reserve(data_.rows() + file.expected_lines());
        return lines;
      },
      [&](CsvReader::Lines&& lines) { return evaluate_rows(context, file.rows(std::move(lines))); },
      [&](EvaluatedRows&& rows) { append(std::move(rows)); });
  check_peak(path, context.duration_unit);
  data_.files.back().sha256 = file.sha256();
}

void DatasetReader::reserve(std::size_t rows) {
  if (rows <= reserved_rows_) return;
  rows = std::max(rows, 2 * reserved_rows_);  // else a thousand files would be moved each time
  reserved_rows_ = rows;
  data_.features.reserve(rows * kept_features_.size());
  for (auto* column : {&data_.reference_us, &data_.duration_us, &data_.efficiency}) {
    column->reserve(rows);
  }
  data_.hardware.reserve(rows);
  data_.file.reserve(rows);
  data_.line.reserve(rows);
  problems_.reserve(rows);
}

RowContext DatasetReader::context_of(const CsvTable& file) const {
  const DatasetOptions& options = data_.options;
  const DurationColumn duration = find_duration_column(file, options.duration_unit);
  std::vector<std::string_view> required = data_.family->problem_columns;
  required.insert(required.end(), {duration.name, kHardwareColumn});
  if (!options.weight_column.empty()) {
    required.push_back(options.weight_column);
  }
  for (const auto* columns : {&options.group_by, &options.hold_out_by}) {
    required.insert(required.end(), columns->begin(), columns->end());
  }
  for (const RowFilter& filter : options.filters) {
    append_columns(filter, required);
  }
  file.require_columns(required);

  RowContext context{file, *data_.family, catalog_, options, kept_features_};
  context.duration_unit = duration.unit;
  context.duration = file.column(duration.name);
  context.hardware = file.column(kHardwareColumn);
  // The index column that pandas writes has an empty name too.
  context.weight =
      options.weight_column.empty() ? CsvTable::npos : file.find_column(options.weight_column);
  context.efficiency = file.find_column("overall_perf");
  context.kernel_source = file.find_column("kernel_source");
  for (const Feature& feature : *data_.family->features) {
    context.features.push_back(file.find_column(feature.name));
  }
  for (const std::string& column : options.group_by) {
    context.group_by.push_back(file.column(column));
  }
  for (const std::string& column : options.hold_out_by) {
    context.hold_out_by.push_back(file.column(column));
  }
  return context;
}

void DatasetReader::append(EvaluatedRows&& rows) {
  data_.features.insert(data_.features.end(), rows.features.begin(), rows.features.end());
  data_.roofline.insert(data_.roofline.end(), rows.roofline.begin(), rows.roofline.end());
  group_texts_.push_back(std::move(rows.group_text));
  for (const UsedRow& row : rows.used) {
    append(row, group_texts_.back());
  }
  data_.files.back().rows_used += static_cast<std::int64_t>(rows.used.size());
  for (const std::string& source : rows.kernel_sources) {
    add_kernel_source(source, data_.kernel_sources);
  }
  for (const auto& [reason, dropped] : rows.dropped) {
    add_dropped(data_.dropped, reason, dropped);
  }
}

void DatasetReader::append(const UsedRow& row, std::string_view group_text) {
  const auto next_gpu = static_cast<std::uint32_t>(data_.hardware_names.size());
  const auto [gpu, is_new] = hardware_index_.try_emplace(row.hardware, next_gpu);
  if (is_new) {
    data_.hardware_names.push_back(row.hardware->name);
  }
  if (!data_.options.weight_column.empty()) {
    data_.weight.push_back(row.weight);
  }
  data_.reference_us.push_back(row.reference_us);
  data_.duration_us.push_back(row.duration_us);
  data_.efficiency.push_back(row.efficiency);
  data_.hardware.push_back(gpu->second);
  problems_.append(group_text.substr(row.problem.begin, row.problem.size));
  if (!data_.options.hold_out_by.empty()) {
    hold_out_groups_.append(group_text.substr(row.hold_out_group.begin, row.hold_out_group.size));
  }
  data_.file.push_back(static_cast<std::uint32_t>(data_.files.size() - 1));
  data_.line.push_back(row.line);
  if (!row.attention_layout.empty()) {
    layouts_.insert(row.attention_layout);
  }
  operand_copies_.insert(row.operand_copies);
  if (row.peak_fraction > kNotedPeakFraction) {
    above_peak_.emplace_back(row.line, row.peak_fraction);
  }
}

void DatasetReader::check_peak(const fs::path& path, DurationUnit unit) {
  if (above_peak_.empty()) {
    return;
  }
  const auto fastest =
      std::max_element(above_peak_.begin(), above_peak_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string message =
      path.string() + ": faster than the hardware's peak in " + std::to_string(above_peak_.size()) +
      " rows (first at line " + std::to_string(above_peak_.front().first) + ", up to " +
      std::to_string(fastest->second) + " times at line " + std::to_string(fastest->first) + ")";
  if (fastest->second > kRefusedPeakFraction) {
    throw DataError(message + ": are durations in " + std::string(plural_name(unit)) + "?");
  }
  data_.notes.push_back(message);
}

Dataset DatasetReader::take() {
  if (data_.rows() == 0) {
    std::string names;
    for (const DataFile& file : data_.files) {
      names += (names.empty() ? "" : ", ") + file.name;
    }
    throw DataError(no_usable_rows(names, data_.family->name, data_.dropped));
  }
  if (layouts_.size() == 1) {
    data_.attention_layout = *layouts_.begin();
  }
  if (operand_copies_.size() == 1 && *operand_copies_.begin() > 0) {
    data_.operand_copies = *operand_copies_.begin();
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
