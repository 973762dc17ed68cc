#include "pw/collective_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "error_bands.h"
#include "statistics.h"

namespace pw {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::uint32_t kSeed = 42;
constexpr std::int64_t kFitBelowBytes = 200'000'000;
constexpr std::int64_t kTestAboveBytes = 400'000'000;

struct SizeRange {
  std::string_view name;
  std::int64_t from_bytes, to_bytes;
};
constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();
constexpr SizeRange kRanges[] = {{"all", 0, kAnySize},
                                 {"<100KB", 0, 100'000},
                                 {"0.1-1MB", 100'000, 1'000'000},
                                 {"1-10MB", 1'000'000, 10'000'000},
                                 {"10-100MB", 10'000'000, 100'000'000},
                                 {">100MB", 100'000'000, kAnySize}};
constexpr std::string_view kExtrapolated = "extrapolated";

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

// The fold of each sample, and how many folds its worker count has.
struct FoldOf {
  std::size_t fold = 0, folds = 0;
};
std::vector<FoldOf> draw_folds(const std::vector<CollectiveSample>& samples, std::size_t folds,
                               std::uint32_t seed) {
  std::map<std::int64_t, std::vector<std::size_t>> rows_by_workers;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    rows_by_workers[samples[i].workers].push_back(i);
  }
  std::vector<FoldOf> result(samples.size());
  for (const auto& [workers, rows] : rows_by_workers) {
    const std::vector<std::size_t> order = shuffled_indices(rows.size(), seed);
    const std::size_t count = std::min(folds, rows.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      result[rows[order[i]]] = {i % count, count};
    }
  }
  return result;
}

// The coverage is that of each half of the errors, every other one, by the band of the other half.
std::optional<ErrorBand> band_of(const std::vector<CollectiveError>& errors,
                                 std::int64_t from_bytes, std::int64_t to_bytes) {
  std::vector<double> halves[2];
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].bytes >= from_bytes && errors[i].bytes < to_bytes) {
      halves[i % 2].push_back(errors[i].log_error);
    }
  }
  std::vector<double> all = halves[0];
  all.insert(all.end(), halves[1].begin(), halves[1].end());
  std::optional<ErrorBand> band = error_band(all);
  const auto first = error_band(halves[0]), second = error_band(halves[1]);
  if (first && second) {
    const auto within = [](const std::vector<double>& values, const ErrorBand& other) {
      return std::count_if(values.begin(), values.end(),
                           [&](double error) { return error >= other.p10 && error <= other.p90; });
    };
    band->coverage = static_cast<double>(within(halves[0], *second) + within(halves[1], *first)) /
                     static_cast<double>(all.size());
  }
  return band;
}

}  // namespace

std::vector<CollectiveError> errors_of(const CollectiveModel& model,
                                       const std::vector<CollectiveSample>& samples) {
  std::vector<CollectiveError> errors;
  errors.reserve(samples.size());
  for (const CollectiveSample& sample : samples) {
    const double predicted_us = evaluate(model, sample.bytes, sample.workers);
    errors.push_back({sample.bytes,
                      100 * std::abs(predicted_us - sample.duration_us) / sample.duration_us,
                      std::log(sample.duration_us / predicted_us)});
  }
  return errors;
}

std::vector<CollectiveError> cross_validate(CollectiveKind kind,
                                            const std::vector<CollectiveSample>& samples,
                                            std::size_t folds, std::uint32_t seed) {
  const std::vector<FoldOf> drawn = draw_folds(samples, folds, seed);
  std::vector<CollectiveError> errors;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<CollectiveSample> fit, test;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (drawn[i].fold != fold) {
        fit.push_back(samples[i]);
      } else if (drawn[i].folds > 1) {
        test.push_back(samples[i]);
      }
    }
    if (!test.empty()) {
      const std::vector<CollectiveError> some = errors_of(fit_model(kind, fit), test);
      errors.insert(errors.end(), some.begin(), some.end());
    }
  }
  return errors;
}

std::vector<CollectiveError> extrapolation_errors(CollectiveKind kind,
                                                  const std::vector<CollectiveSample>& samples,
                                                  std::int64_t fit_below_bytes,
                                                  std::int64_t test_above_bytes) {
  std::vector<CollectiveSample> fit, test;
  for (const auto& [workers, group] : by_workers(samples)) {
    const auto count = fit.size();
    for (const CollectiveSample& sample : group) {
      if (sample.bytes < fit_below_bytes) {
        fit.push_back(sample);
      }
    }
    for (const CollectiveSample& sample : group) {
      if (fit.size() > count && sample.bytes > test_above_bytes) {
        test.push_back(sample);
      }
    }
  }
  return test.empty() ? std::vector<CollectiveError>{} : errors_of(fit_model(kind, fit), test);
}

std::optional<PercentErrors> summarise(const std::vector<CollectiveError>& errors,
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
  PercentErrors summary;
  summary.rows = static_cast<std::int64_t>(selected.size());
  summary.mean_percent = mean(selected);
  summary.median_percent = median(std::move(selected));
  return summary;
}

std::optional<PercentErrors> summarise(const std::vector<CollectiveError>& errors) {
  return summarise(errors, 0, kAnySize);
}

std::optional<ErrorBand> band_for_size(const std::vector<NamedErrors>& table, std::int64_t bytes,
                                       bool extrapolated) {
  const auto* range = std::find_if(std::begin(kRanges) + 1, std::end(kRanges),
                                   [&](const SizeRange& each) { return bytes < each.to_bytes; });
  const std::string_view name = extrapolated ? kExtrapolated : range->name;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const NamedErrors& each) { return each.name == name; });
  return found == table.end() ? std::nullopt : found->band;
}

std::vector<NamedErrors> error_table(CollectiveKind kind,
                                     const std::vector<CollectiveSample>& samples) {
  const std::vector<CollectiveError> held_out = cross_validate(kind, samples, kFolds, kSeed);
  std::vector<NamedErrors> table;
  const auto add = [&](std::string_view name, const std::vector<CollectiveError>& errors,
                       std::int64_t from_bytes, std::int64_t to_bytes) {
    if (const auto summary = summarise(errors, from_bytes, to_bytes)) {
      table.push_back({std::string(name), *summary, band_of(errors, from_bytes, to_bytes)});
    }
  };
  for (const SizeRange& range : kRanges) {
    add(range.name, held_out, range.from_bytes, range.to_bytes);
  }
  add(kExtrapolated, extrapolation_errors(kind, samples, kFitBelowBytes, kTestAboveBytes), 0,
      kAnySize);
  return table;
}

const std::vector<std::string>& error_table_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const SizeRange& range : kRanges) {
      all.emplace_back(range.name);
    }
    all.emplace_back(kExtrapolated);
    return all;
  }();
  return names;
}

}  // namespace pw
