#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "progress_line.h"
#include "pw/dataset.h"
#include "pw/trainer.h"

namespace pw {

// Rows used per GPU, and the rows left out by reason with examples.
void print_data_summary(std::ostream& stream, const Dataset& data, const char* what);

// A table of how well a model predicts, one line per part.
void print_metrics(std::ostream& stream, const LabelledMetrics& metrics);

// A table of which share of the rows each quantile of a model covers, one line per part.
void print_coverage(std::ostream& stream, const ModelRecord& record,
                    const LabelledCoverage& coverage);

// A table of held-out errors and the coverage of their bands, one line per GPU; nothing without.
void print_error_bands(std::ostream& stream, const std::optional<HeldOutErrors>& errors);

// Which share of the rows lies within a model's p10 to p90, one line per part.
void print_band_coverage(std::ostream& stream, const LabelledCoverage& coverage);

// "2026-11-30T06:47:01.123456", local time.
std::string local_time_stamp();

class TrainingProgress {
 public:
  explicit TrainingProgress(std::ostream& stream);

  void show(const EpochReport& report);
  void finish();

 private:
  void print();
  std::string validation() const;

  ProgressLine line_;
  std::optional<EpochReport> first_, best_;
  EpochReport last_;
  std::int64_t printed_epoch_ = -1;
};

}  // namespace pw
