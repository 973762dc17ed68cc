#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pw/collective.h"

namespace pw {

// How far a curve is from one measured call.
struct CollectiveError {
  std::int64_t bytes = 0;
  double ape_percent = 0;  // 100 |predicted - measured| / measured duration
};

// The samples of all functions are of one worker count.
std::vector<CollectiveError> errors_of(const CollectiveCurve& curve,
                                       const std::vector<CollectiveSample>& samples);

// Each sample is predicted by a curve fitted without its fold; folds are drawn at random with
// `seed`. Fewer samples than folds: one sample a fold. A single sample gives no errors.
std::vector<CollectiveError> cross_validate(const std::vector<CollectiveSample>& samples,
                                            std::size_t folds, std::uint32_t seed);

// Errors above `test_above_bytes` of a curve fitted on the samples below `fit_below_bytes`; empty
// unless there are samples on both sides.
std::vector<CollectiveError> extrapolation_errors(const std::vector<CollectiveSample>& samples,
                                                  std::int64_t fit_below_bytes,
                                                  std::int64_t test_above_bytes);

struct ErrorSummary {
  std::int64_t rows = 0;
  double mean_percent = 0, median_percent = 0;
};
// Of the errors with from_bytes <= bytes < to_bytes; nullopt when there are none.
std::optional<ErrorSummary> summarise(const std::vector<CollectiveError>& errors,
                                      std::int64_t from_bytes, std::int64_t to_bytes);
std::optional<ErrorSummary> summarise(const std::vector<CollectiveError>& errors);

}  // namespace pw
