#include "dataset_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "io/numbers.h"
#include "peak_check.h"
#include "row_filter.h"

namespace pw {
namespace {

constexpr double kFeatureTolerance = 1e-9;

bool differs(double found, double expected) {
  return std::abs(found - expected) >
         kFeatureTolerance * std::max(std::abs(found), std::abs(expected));
}

template <class Value>
void append_bytes(char tag, const Value& value, std::string& text) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text += tag;
  text.append(bytes, sizeof bytes);
}

// A group must not fall apart over how a value is written: "16" and "16.0" are one number, and
// "[6,70]" and "[ 6, 70 ]" one list.
void append_value_of(std::string_view cell, std::string& text) {
  if (const auto number = parse_number(cell); number && std::isfinite(*number)) {
    append_bytes('n', *number, text);
    return;
  }
  text += 't';
  std::copy_if(cell.begin(), cell.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  text += '\n';  // stands in no cell
}

class RowEvaluator {
 public:
  RowEvaluator(const RowContext& context, std::size_t rows)
      : context_(context),
        rows_of_filter_(context.options.filters.size()),
        hardware_(context.catalog, context.hardware) {
    result_.used.reserve(rows);
    result_.features.reserve(rows * context.kept_features.size());
    constexpr std::size_t kBytesOfAValue = 9;
    result_.group_text.reserve(rows * kBytesOfAValue *
                               (context.group_by.size() + context.hold_out_by.size()));
  }

  void add(const CsvTable& table);
  EvaluatedRows take();

 private:
  bool is_selected(const CsvTable& table, std::size_t row);
  OperatorConfig read_config(const CsvRow& row) const;
  void evaluate(const CsvRow& row, std::size_t line);
  void check_columns(const CsvRow& row, const OperatorConfig& config,
                     const PipelineFeatures& features, double efficiency) const;
  UsedRow::Place append_group(const CsvRow& row, const HardwareSpec* hardware,
                              const std::vector<std::size_t>& columns);

  const RowContext& context_;
  EvaluatedRows result_;
  std::vector<std::int64_t> rows_of_filter_;  // that each filter left out
  HardwareColumn hardware_;
};

void RowEvaluator::add(const CsvTable& table) {
  for (const CsvTable::BadLine& bad : table.bad_lines()) {
    const std::string place = table.path().string() + ":" + std::to_string(bad.line);
    add_dropped(result_.dropped, "wrong number of fields", {1, {place + ": " + bad.reason}});
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!is_selected(table, row)) {
      continue;
    }
    try {
      evaluate(CsvRow(table, row), table.line(row));
    } catch (const UnusableRow& unusable) {
      add_dropped(result_.dropped, unusable.reason, {1, {unusable.example}});
    }
  }
}

EvaluatedRows RowEvaluator::take() {
  for (std::size_t i = 0; i < rows_of_filter_.size(); ++i) {
    if (rows_of_filter_[i] > 0) {
      add_dropped(result_.dropped, "not selected by " + to_string(context_.options.filters[i]),
                  {rows_of_filter_[i], {}});
    }
  }
  return std::move(result_);
}

bool RowEvaluator::is_selected(const CsvTable& table, std::size_t row) {
  const std::vector<RowFilter>& filters = context_.options.filters;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (!keeps(filters[i], table, row)) {
      ++rows_of_filter_[i];
      return false;
    }
  }
  return true;
}

OperatorConfig RowEvaluator::read_config(const CsvRow& row) const {
  try {
    OperatorConfig config = context_.family.read(row);
    const std::optional<double>& copies = context_.options.weight_copies;
    if (copies && !row.has("weight_copies")) set_operand_copies(config, *copies);
    return config;
  } catch (const DataError& error) {
    throw UnusableRow{"no valid problem", error.what()};
  }
}

void RowEvaluator::evaluate(const CsvRow& row, std::size_t line) {
  UsedRow used{};
  used.line = line;
  used.duration_us = read_duration_us(row, context_.duration, context_.duration_unit);
  used.weight = context_.weight == CsvTable::npos ? 1 : read_positive(row, context_.weight);
  used.hardware = hardware_.of(row);
  const OperatorConfig config = read_config(row);
  const auto place = [&] { return row.where(context_.family.problem_columns.front()); };
  const DatasetOptions& options = context_.options;
  PipelineFeatures features;
  ModelInput input;
  try {
    features = analyze_operator(config, *used.hardware, options.analysis);
    input = options.kind == ModelKind::efficiency
                ? efficiency_input(features, context_.family, *used.hardware)
                : model_input(config, *used.hardware, ModelKind::log_ratio, {});
  } catch (const DataError& error) {
    throw UnusableRow{"problem without features", place() + ": " + error.what()};
  }
  const double cycles = ideal_cycles<double>(features);
  if (!(cycles > 0)) {
    throw UnusableRow{"nothing to compute", place() + ": " + describe(config)};
  }
  used.reference_us = input.reference_us;
  used.efficiency = efficiency_of(cycles, used.duration_us, *used.hardware);
  used.operand_copies = operand_copies(config).value_or(0);
  used.peak_fraction = fraction_of_peak(config, features, used.duration_us, *used.hardware);
  check_columns(row, config, features, used.efficiency);
  if (const auto* attention = std::get_if<AttentionConfig>(&config)) {
    used.attention_layout = attention->layout == KvLayout::paged ? "paged" : "ragged";
  }
  used.problem = append_group(row, used.hardware, context_.group_by);
  used.hold_out_group = append_group(row, used.hardware, context_.hold_out_by);
  if (options.keep_roofline) {
    result_.roofline.push_back(roofline(config, *used.hardware));
  }
  for (const std::size_t feature : context_.kept_features) {
    result_.features.push_back(input.features[feature]);
  }
  if (context_.kernel_source != CsvTable::npos) {
    add_kernel_source(row.cell(context_.kernel_source), result_.kernel_sources);
  }
  result_.used.push_back(used);
}

// The features that a file brings must be ours, or its model would be fitted on something else than
// what a prediction computes.
void RowEvaluator::check_columns(const CsvRow& row, const OperatorConfig& config,
                                 const PipelineFeatures& features, double efficiency) const {
  const auto check = [&](std::size_t column, double expected) {
    if (differs(row.number(column), expected)) {
      throw DataError(row.where(column) + " is " + std::string(row.cell(column)) + ", but " +
                      describe(config) + " gives " + std::to_string(expected) +
                      ": choose the analysis options or add the tile columns that the "
                      "file was made with, or remove its feature columns");
    }
  };
  for (std::size_t i = 0; i < context_.features.size(); ++i) {
    if (context_.features[i] != CsvTable::npos) {
      check(context_.features[i], (*context_.family.features)[i].of(features));
    }
  }
  if (context_.efficiency != CsvTable::npos && !row.cell(context_.efficiency).empty()) {
    check(context_.efficiency, efficiency);
  }
}

UsedRow::Place RowEvaluator::append_group(const CsvRow& row, const HardwareSpec* hardware,
                                          const std::vector<std::size_t>& columns) {
  std::string& text = result_.group_text;
  const std::size_t begin = text.size();
  for (const std::size_t column : columns) {
    if (column == context_.hardware) {
      append_bytes('h', hardware, text);  // the GPU, whatever its alias
    } else {
      append_value_of(row.cell(column), text);
    }
  }
  return {begin, text.size() - begin};
}

}  // namespace

EvaluatedRows evaluate_rows(const RowContext& context, const CsvTable& rows) {
  RowEvaluator evaluator(context, rows.rows());
  evaluator.add(rows);
  return evaluator.take();
}

void add_kernel_source(std::string_view source, std::vector<std::string>& sources) {
  if (!source.empty() && std::find(sources.begin(), sources.end(), source) == sources.end()) {
    sources.emplace_back(source);
  }
}

std::string no_usable_rows(const std::string& files, std::string_view family,
                           const std::map<std::string, DroppedRows>& dropped) {
  const std::string reasons = summary(dropped);
  const std::string message = files + ": no usable rows for operator " + std::string(family) +
                              ": " + (reasons.empty() ? "the file holds no row" : reasons);
  for (const auto& [reason, rows] : dropped) {
    if (!rows.examples.empty()) return message + "; for example " + rows.examples.front();
  }
  return message;
}

void add_dropped(std::map<std::string, DroppedRows>& dropped, const std::string& reason,
                 const DroppedRows& rows) {
  DroppedRows& known = dropped[reason];
  known.rows += rows.rows;
  for (const std::string& example : rows.examples) {
    if (known.examples.size() < DroppedRows::kMaxExamples) {
      known.examples.push_back(example);
    }
  }
}

}  // namespace pw
