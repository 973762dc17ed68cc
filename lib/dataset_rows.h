#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dataset_columns.h"
#include "io/csv_table.h"
#include "pw/dataset.h"

namespace pw {

// What is the same for all rows of a file. Columns are places in the table's header.
struct RowContext {
  const CsvTable& file;  // a table without rows
  const OperatorFamily& family;
  const HardwareCatalog& catalog;
  const DatasetOptions& options;
  const std::vector<std::size_t>& kept_features;  // of all of the family's for the model kind
  DurationUnit duration_unit = DurationUnit::us;
  std::size_t duration = CsvTable::npos, hardware = CsvTable::npos;
  std::size_t weight = CsvTable::npos, efficiency = CsvTable::npos;  // npos: not there
  std::size_t kernel_source = CsvTable::npos;
  std::vector<std::size_t> features =
      {};  // columns of the family's pipeline features; npos: not there
  std::vector<std::size_t> group_by = {}, hold_out_by = {};
};

// A row that is used.
struct UsedRow {
  struct Place {
    std::size_t begin, size;
  };

  std::size_t line;
  const HardwareSpec* hardware;
  double duration_us, weight, reference_us, efficiency;
  double peak_fraction;               // peak_check.h
  double operand_copies;              // pw/operand_copies.h; 0 for families without
  Place problem, hold_out_group;      // in group_text
  std::string_view attention_layout;  // "paged", "ragged" or, of other operators, ""
};

// Rows of one file in their order, each evaluated independently of all others.
struct EvaluatedRows {
  std::vector<UsedRow> used;
  std::vector<double> features;             // used rows x kept features
  std::vector<Roofline> roofline;           // of each used row, if the options ask for it
  std::string group_text;                   // equal text for the rows of one group, back to back
  std::vector<std::string> kernel_sources;  // distinct ones that the used rows tell
  std::map<std::string, DroppedRows> dropped;
};

// Evaluates some rows of the file. What makes a single row unusable is counted in `dropped`. Throws
// DataError for a row whose feature columns contradict ours.
EvaluatedRows evaluate_rows(const RowContext& context, const CsvTable& rows);

// Adds a source, unless it is "" or known.
void add_kernel_source(std::string_view source, std::vector<std::string>& sources);

// That no row of the files is left, and why: for an error.
std::string no_usable_rows(const std::string& files, std::string_view family,
                           const std::map<std::string, DroppedRows>& dropped);

// Adds rows that were left out for one reason, whose first ones are told as examples.
void add_dropped(std::map<std::string, DroppedRows>& dropped, const std::string& reason,
                 const DroppedRows& rows);

}  // namespace pw
