#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/csv_table.h"
#include "predictor_options.h"
#include "pw/dataset.h"

namespace pw {

// Predicts rows of operator problems and writes them as CSV, each with what is appended to it.
// Several threads may use one at once.
class OperatorRows {
 public:
  // What is the same for all rows.
  struct Settings {
    const OperatorFamily& family;
    const HardwareCatalog& catalog;
    const HardwareSpec* gpu = nullptr;  // of all rows; null: the hardware column's
    const ModelSet& models;
    const OperatorPredictorOptions& options;
    bool features = false;     // append those that the input lacks
    bool predictions = false;  // append these
  };

  // Throws DataError when the input lacks a column, or has one that is to be appended.
  OperatorRows(const CsvTable& header, const Settings& settings);

  std::string header_line() const;

  // Some rows of the input.
  struct Part {
    std::string text;  // lines of CSV
    std::size_t rows = 0;
    // The lines that give no row, in order: why, and the message with its place.
    struct BadRow {
      std::string reason;
      std::string message;
    };
    std::map<std::size_t, BadRow> bad;
  };
  Part predict(const CsvTable& rows) const;

 private:
  struct Result;
  void predict_on(const HardwareSpec& gpu, const CsvTable& csv,
                  const std::vector<std::size_t>& rows, std::vector<Result>& results,
                  Part& part) const;
  void append_row(const CsvTable& csv, std::size_t row, const Result& result,
                  std::string& text) const;

  const CsvTable& header_;
  const Settings settings_;
  std::vector<Feature> features_;  // to append
};

}  // namespace pw
