#include "pw/collective_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "statistics.h"

namespace pw {
namespace {

// Not std::shuffle: its use of the generator differs between standard libraries.
std::vector<std::size_t> shuffled_indices(std::size_t count, std::uint32_t seed) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::mt19937 generator(seed);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(indices[i - 1], indices[generator() % i]);
  }
  return indices;
}

void append(std::vector<CollectiveError>& to, const std::vector<CollectiveError>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::vector<CollectiveError> errors_of(const CollectiveCurve& curve,
                                       const std::vector<CollectiveSample>& samples) {
  std::vector<CollectiveError> errors;
  errors.reserve(samples.size());
  for (const CollectiveSample& sample : samples) {
    const double predicted_us = evaluate(curve, static_cast<double>(sample.bytes));
    errors.push_back(
        {sample.bytes, 100 * std::abs(predicted_us - sample.duration_us) / sample.duration_us});
  }
  return errors;
}

std::vector<CollectiveError> cross_validate(const std::vector<CollectiveSample>& samples,
                                            std::size_t folds, std::uint32_t seed) {
  const std::vector<std::size_t> order = shuffled_indices(samples.size(), seed);
  folds = std::min(folds, samples.size());
  std::vector<CollectiveError> errors;
  for (std::size_t fold = 0; folds > 1 && fold < folds; ++fold) {
    std::vector<CollectiveSample> fit, test;
    for (std::size_t i = 0; i < order.size(); ++i) {
      (i % folds == fold ? test : fit).push_back(samples[order[i]]);
    }
    append(errors, errors_of(fit_curve(fit), test));
  }
  return errors;
}

std::vector<CollectiveError> extrapolation_errors(const std::vector<CollectiveSample>& samples,
                                                  std::int64_t fit_below_bytes,
                                                  std::int64_t test_above_bytes) {
  std::vector<CollectiveSample> fit, test;
  for (const CollectiveSample& sample : samples) {
    if (sample.bytes < fit_below_bytes) {
      fit.push_back(sample);
    } else if (sample.bytes > test_above_bytes) {
      test.push_back(sample);
    }
  }
  if (fit.empty() || test.empty()) {
    return {};
  }
  return errors_of(fit_curve(fit), test);
}

std::optional<ErrorSummary> summarise(const std::vector<CollectiveError>& errors,
                                      std::int64_t from_bytes, std::int64_t to_bytes) {
  std::vector<double> selected;
  for (const CollectiveError& error : errors) {
    if (error.bytes >= from_bytes && error.bytes < to_bytes) {
      selected.push_back(error.ape_percent);
    }
  }
  if (selected.empty()) {
    return std::nullopt;
  }
  ErrorSummary summary;
  summary.rows = static_cast<std::int64_t>(selected.size());
  summary.mean_percent = mean(selected);
  summary.median_percent = median(std::move(selected));
  return summary;
}

std::optional<ErrorSummary> summarise(const std::vector<CollectiveError>& errors) {
  return summarise(errors, 0, std::numeric_limits<std::int64_t>::max());
}

}  // namespace pw
