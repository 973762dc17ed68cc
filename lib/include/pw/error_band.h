#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pw {

// Where the errors of a model lie on rows that its fit did not see. An error is ln(measured /
// predicted duration): exp(p90) times a prediction is what 90 % of such measurements stay below.
struct ErrorBand {
  std::int64_t rows = 0;
  double p10 = 0, p50 = 0, p90 = 0;
  // Share of held-out rows between the p10 and p90 of other held-out rows; 0.8 for a band that is
  // what it claims to be. Absent where there are too few rows to tell.
  std::optional<double> coverage;
};

// Where the middle 80 % of measured times are to be expected.
struct TimeBand {
  double p10_us = 0, p90_us = 0;
};
TimeBand time_band(const ErrorBand& errors, double predicted_us);

// Errors on one kind of held-out rows.
struct HeldOutErrors {
  std::string held_out;  // what the fits lacked: "problems", "groups of equal N, K, in 5 folds"
  ErrorBand all;
  std::vector<std::pair<std::string, ErrorBand>> of_gpu;  // full names; those with enough rows

  const ErrorBand& of(const std::string& gpu) const;  // its own band, else that of all
};

// Errors of one fit on rows of a data set that it did not see.
struct FitErrors {
  std::vector<std::int64_t> rows;
  std::vector<double> errors;  // one per row
};

}  // namespace pw
