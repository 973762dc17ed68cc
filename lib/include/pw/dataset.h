#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/hardware_catalog.h"
#include "pw/model_record.h"
#include "pw/operators.h"
#include "pw/roofline.h"

namespace pw {

// Keeps the rows whose cell in `column` is one of `values`, or with `exclude` the others; cells are
// compared as text. With a limit instead of values: the rows whose cell is a number within it.
struct RowFilter {
  std::string column;
  std::vector<std::string> values;
  bool exclude = false;
  std::optional<double> least = std::nullopt, most = std::nullopt;
  std::vector<RowFilter> or_else = {};  // keep the row too if one of these does
};
// "source=a|b", "hardware!=NVIDIA L40", "N>=512" or "N<=512", several joined by " or ". Throws
// DataError for anything else.
RowFilter parse_row_filter(std::string_view text);
std::string to_string(const RowFilter& filter);

// Rows that were left out for one reason.
struct DroppedRows {
  static constexpr std::size_t kMaxExamples = 10;

  std::int64_t rows = 0;
  std::vector<std::string> examples;  // file, line and what was found, for the first rows
};

enum class DurationUnit { us, ms, s };
std::string_view to_string(DurationUnit unit);
DurationUnit parse_duration_unit(std::string_view text);

// What is read of the rows, and as which model inputs.
struct DatasetOptions {
  ModelKind kind = ModelKind::efficiency;
  AnalysisOptions analysis;
  std::vector<RowFilter> filters;  // all must hold
  // Sets of operands that the measurement used in turn (pw/operand_copies.h), for rows without a
  // column weight_copies; absent: what a problem of the family has by itself.
  std::optional<double> weight_copies;
  // Columns whose cells say which rows are one problem, for splits; `hardware` counts as the GPU,
  // whatever its alias. Empty: hardware and the family's problem columns.
  std::vector<std::string> group_by;
  // Of a column avg_duration; absent: microseconds. A column that names its unit in its header
  // (avg_duration_ms, duration_us) has that one, and another one here is an error.
  std::optional<DurationUnit> duration_unit;
  // Column of the rows' weights in training, each positive; empty: all rows weigh the same.
  std::string weight_column;
  // The features that are kept, of feature_names(family, kind); empty: all. Their order there
  // stays.
  std::vector<std::string> features;
  // Columns of a coarser grouping, whose groups an evaluation holds out whole; may be empty.
  std::vector<std::string> hold_out_by;
  bool keep_roofline = false;  // fill Dataset::roofline, for linear models
};

// Profiled rows of one operator family as training data. All vectors have one entry per row except
// `features` (rows x feature_names, row-major, raw values).
struct Dataset {
  const OperatorFamily* family = nullptr;
  DatasetOptions options;
  std::vector<std::string> feature_names;
  std::string attention_layout;  // "ragged" or "paged" if all rows are attention of one layout
  std::optional<double> operand_copies;  // of all rows, if it is one number (pw/operand_copies.h)
  std::vector<double> features;
  std::vector<double> reference_us;  // what the model's output is relative to
  std::vector<double> duration_us;
  std::vector<double> weight;                 // as in the file; empty without a weight column
  std::vector<double> efficiency;             // overall_perf, target of efficiency models
  std::vector<std::uint32_t> hardware;        // index into hardware_names
  std::vector<std::uint64_t> problem;         // equal for rows with the same cells of `group_by`
  std::vector<std::uint64_t> hold_out_group;  // the same for `hold_out_by`; empty without
  std::vector<std::uint32_t> file;            // index into files
  std::vector<std::size_t> line;              // in that file
  std::vector<Roofline> roofline;             // empty unless asked for
  std::vector<std::string> hardware_names;
  std::vector<DataFile> files;
  std::map<std::string, DroppedRows> dropped;  // by reason
  std::vector<std::string> kernel_sources;     // distinct cells of a column kernel_source
  std::vector<std::string> notes;              // what is doubtful about the rows in use

  std::size_t rows() const { return duration_us.size(); }
  std::size_t width() const { return feature_names.size(); }
};

// "gemm.csv:17": where a row stands.
std::string row_place(const Dataset& data, std::size_t row);

// "2 avg_duration is empty, 1 unknown GPU 'L4'": the reasons and their rows.
std::string summary(const std::map<std::string, DroppedRows>& dropped);

// Reads any number of CSVs: the family's problem columns, a duration (`avg_duration`, or
// `avg_duration_` or `duration_` with the unit us, ms or s) and `hardware` (full name or alias).
// Feature columns and overall_perf, where present, are compared with our own values (1e-9 relative)
// and a difference is an error that names the line. Rows that cannot be used (wrong number of
// fields, non-finite or non-positive duration or weight, impossible problem, unknown GPU) are
// dropped and counted by reason; no usable row at all is an error. So are rows of more than twice
// the GPU's peak, because their unit cannot be right; less above the peak is noted.
Dataset read_dataset(const std::vector<std::filesystem::path>& paths, const OperatorFamily& family,
                     const HardwareCatalog& catalog, const DatasetOptions& options);

}  // namespace pw
