#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pw/collective.h"

namespace pw {

// How far a model is from one measured call.
struct CollectiveError {
  std::int64_t bytes = 0;
  double ape_percent = 0;  // 100 |predicted - measured| / measured duration
  double log_error = 0;    // ln(measured / predicted duration)
};

// The samples must be of worker counts that the model has.
std::vector<CollectiveError> errors_of(const CollectiveModel& model,
                                       const std::vector<CollectiveSample>& samples);

// Each sample is predicted by a model fitted without its fold. Folds are drawn at random with
// `seed`, of each worker count by itself, so they are the same for every kind of model. Fewer
// samples of a worker count than folds: one sample a fold; a single one gives no error.
std::vector<CollectiveError> cross_validate(CollectiveKind kind,
                                            const std::vector<CollectiveSample>& samples,
                                            std::size_t folds, std::uint32_t seed);

// Errors above `test_above_bytes` of a model fitted on the samples below `fit_below_bytes`, of the
// worker counts that have samples on both sides.
std::vector<CollectiveError> extrapolation_errors(CollectiveKind kind,
                                                  const std::vector<CollectiveSample>& samples,
                                                  std::int64_t fit_below_bytes,
                                                  std::int64_t test_above_bytes);

// Of the errors with from_bytes <= bytes < to_bytes; nullopt when there are none.
std::optional<PercentErrors> summarise(const std::vector<CollectiveError>& errors,
                                       std::int64_t from_bytes, std::int64_t to_bytes);
std::optional<PercentErrors> summarise(const std::vector<CollectiveError>& errors);

// What a model's record says about its accuracy: 5-fold cross-validation of "all" rows and by
// size ("<100KB", "0.1-1MB", "1-10MB", "10-100MB", ">100MB"), then "extrapolated": fitted below 200
// MB, tested above 400 MB. Names without rows are left out.
std::vector<NamedErrors> error_table(CollectiveKind kind,
                                     const std::vector<CollectiveSample>& samples);
// The band of a table for messages of this size; absent where the table has none for them.
std::optional<ErrorBand> band_for_size(const std::vector<NamedErrors>& table, std::int64_t bytes,
                                       bool extrapolated);
// The names above in order.
const std::vector<std::string>& error_table_names();

}  // namespace pw
