#include "error_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "metrics.h"
#include "model/split.h"
#include "statistics.h"

namespace pw {
namespace {

constexpr std::size_t kFewestErrors = 9;  // the fewest whose smallest is the quantile 0.1
constexpr float kSmallestEfficiency = 1e-9f;

// The i-th of n values that ascend is the quantile i / (n + 1), linear between.
double rank_quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() + 1) - 1;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

bool is_within(double error, const ErrorBand& band) {
  return error >= band.p10 && error <= band.p90;
}

struct Share {
  std::int64_t rows = 0, within = 0;

  void add(bool is_in) {
    ++rows;
    within += is_in ? 1 : 0;
  }
  std::optional<double> value() const {
    return rows == 0 ? std::nullopt
                     : std::optional(static_cast<double>(within) / static_cast<double>(rows));
  }
};

// Errors by GPU, in the order of Dataset::hardware_names.
using ErrorsOfGpus = std::vector<std::vector<double>>;

ErrorsOfGpus by_gpu(const Dataset& data, const std::vector<FitErrors>& fits) {
  ErrorsOfGpus errors(data.hardware_names.size());
  for (const FitErrors& fit : fits) {
    for (std::size_t i = 0; i < fit.rows.size(); ++i) {
      errors[data.hardware[static_cast<std::size_t>(fit.rows[i])]].push_back(fit.errors[i]);
    }
  }
  return errors;
}

std::vector<double> joined(const ErrorsOfGpus& parts) {
  std::vector<double> all;
  for (const std::vector<double>& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// Of the GPUs with enough errors, without coverage.
std::vector<std::pair<std::string, ErrorBand>> bands_of_gpus(const Dataset& data,
                                                             const ErrorsOfGpus& errors) {
  std::vector<std::pair<std::string, ErrorBand>> bands;
  for (std::size_t gpu = 0; gpu < errors.size(); ++gpu) {
    if (const std::optional<ErrorBand> band = error_band(errors[gpu])) {
      bands.emplace_back(data.hardware_names[gpu], *band);
    }
  }
  return bands;
}

std::optional<HeldOutErrors> known_gpu_bands(const Dataset& data,
                                             const std::vector<FitErrors>& fits,
                                             const std::string& held_out) {
  const ErrorsOfGpus errors = by_gpu(data, fits);
  const std::optional<ErrorBand> all = error_band(joined(errors));
  if (!all) {
    return std::nullopt;
  }
  return HeldOutErrors{held_out, *all, bands_of_gpus(data, errors)};
}

// The band of a GPU like those, but for the one that is called `except`.
std::optional<ErrorBand> new_gpu_band(const std::vector<std::pair<std::string, ErrorBand>>& of_gpu,
                                      const std::string& except = {}) {
  std::vector<ErrorBand> bands;
  for (const auto& [name, band] : of_gpu) {
    if (name != except) {
      bands.push_back(band);
    }
  }
  return widest_band(bands);
}

// The errors of some of a fit's rows.
FitErrors part_of(const FitErrors& fit, const std::vector<std::int64_t>& rows) {
  FitErrors part{rows, {}};
  std::vector<std::pair<std::int64_t, double>> sorted;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    sorted.emplace_back(fit.rows[i], fit.errors[i]);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const std::int64_t row : rows) {
    part.errors.push_back(
        std::lower_bound(sorted.begin(), sorted.end(), std::pair(row, -HUGE_VAL))->second);
  }
  return part;
}

}  // namespace

TimeBand time_band(const ErrorBand& errors, double predicted_us) {
  return {predicted_us * std::exp(errors.p10), predicted_us * std::exp(errors.p90)};
}

const ErrorBand& HeldOutErrors::of(const std::string& gpu) const {
  const auto own = std::find_if(of_gpu.begin(), of_gpu.end(),
                                [&](const auto& entry) { return entry.first == gpu; });
  return own == of_gpu.end() ? all : own->second;
}

std::optional<ErrorBand> error_band(std::vector<double> errors) {
  if (errors.size() < kFewestErrors) {
    return std::nullopt;
  }
  std::sort(errors.begin(), errors.end());
  return ErrorBand{static_cast<std::int64_t>(errors.size()), rank_quantile(errors, 0.1),
                   rank_quantile(errors, 0.5), rank_quantile(errors, 0.9), std::nullopt};
}

std::optional<ErrorBand> widest_band(const std::vector<ErrorBand>& bands) {
  if (bands.empty()) {
    return std::nullopt;
  }
  ErrorBand widest{0, bands.front().p10, 0, bands.front().p90, std::nullopt};
  std::vector<double> medians;
  for (const ErrorBand& band : bands) {
    widest.rows += band.rows;
    widest.p10 = std::min(widest.p10, band.p10);
    widest.p90 = std::max(widest.p90, band.p90);
    medians.push_back(band.p50);
  }
  widest.p50 = median(std::move(medians));
  return widest;
}

FitErrors fit_errors(const Dataset& data, const std::vector<std::int64_t>& rows,
                     const std::vector<float>& efficiency) {
  FitErrors fit{rows, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Durations are to each other as overall_perf inverted.
    const double measured = data.efficiency[static_cast<std::size_t>(rows[i])];
    fit.errors.push_back(std::log(std::max(efficiency[i], kSmallestEfficiency) / measured));
  }
  return fit;
}

std::optional<HeldOutErrors> known_gpu_errors(const Dataset& data,
                                              const std::vector<FitErrors>& fits,
                                              const std::vector<std::uint64_t>& group_of_row,
                                              std::int64_t seed, const std::string& held_out) {
  std::optional<HeldOutErrors> result = known_gpu_bands(data, fits, held_out);
  if (!result) {
    return std::nullopt;
  }
  Share all;
  std::vector<Share> shares(data.hardware_names.size());
  for (const FitErrors& fit : fits) {
    const Split halves = split_groups_of(group_of_row, fit.rows, 0.5, seed);
    for (const auto& [banded, tested] : {std::pair(halves.training, halves.validation),
                                         std::pair(halves.validation, halves.training)}) {
      const auto half = known_gpu_bands(data, {part_of(fit, banded)}, held_out);
      if (!half) {
        continue;
      }
      const FitErrors others = part_of(fit, tested);
      for (std::size_t i = 0; i < others.rows.size(); ++i) {
        const std::uint32_t gpu = data.hardware[static_cast<std::size_t>(others.rows[i])];
        const bool within = is_within(others.errors[i], half->of(data.hardware_names[gpu]));
        all.add(within);
        shares[gpu].add(within);
      }
    }
  }
  result->all.coverage = all.value();
  for (auto& [name, band] : result->of_gpu) {
    const auto gpu = std::find(data.hardware_names.begin(), data.hardware_names.end(), name);
    band.coverage = shares[static_cast<std::size_t>(gpu - data.hardware_names.begin())].value();
  }
  return result;
}

std::optional<HeldOutErrors> new_gpu_errors(const Dataset& data, const std::vector<FitErrors>& fits,
                                            const std::string& held_out) {
  const ErrorsOfGpus errors = by_gpu(data, fits);
  HeldOutErrors result{held_out, {}, bands_of_gpus(data, errors)};
  const std::optional<ErrorBand> all = new_gpu_band(result.of_gpu);
  if (!all) {
    return std::nullopt;
  }
  result.all = *all;
  std::vector<double> coverages;
  for (auto& [name, band] : result.of_gpu) {
    if (const std::optional<ErrorBand> others = new_gpu_band(result.of_gpu, name)) {
      const auto gpu = std::find(data.hardware_names.begin(), data.hardware_names.end(), name);
      Share share;
      for (const double error :
           errors[static_cast<std::size_t>(gpu - data.hardware_names.begin())]) {
        share.add(is_within(error, *others));
      }
      band.coverage = share.value();
      coverages.push_back(*band.coverage);
    }
  }
  if (!coverages.empty()) {
    result.all.coverage = mean(coverages);
  }
  return result;
}

std::optional<ErrorBand> band_for(const ModelRecord& record, const std::string& gpu) {
  const bool known = std::any_of(record.hardware_rows.begin(), record.hardware_rows.end(),
                                 [&](const auto& entry) { return entry.first == gpu; });
  const std::optional<HeldOutErrors>& errors =
      known ? record.known_gpu_errors : record.new_gpu_errors;
  return errors ? std::optional(errors->of(gpu)) : std::nullopt;
}

LabelledCoverage band_coverage(const OperatorModel& model, const Dataset& data,
                               const std::string& label) {
  std::vector<std::int64_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0);
  const FitErrors fit = fit_errors(data, rows, predicted_efficiency(model, data, rows));
  Share all;
  std::vector<Share> shares(data.hardware_names.size());
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const std::uint32_t gpu = data.hardware[row];
    if (const auto band = band_for(model.record(), data.hardware_names[gpu])) {
      const bool within = is_within(fit.errors[row], *band);
      all.add(within);
      shares[gpu].add(within);
    }
  }
  LabelledCoverage table;
  const auto add = [&](const std::string& name, const Share& share) {
    if (share.rows > 0) {
      table.emplace_back(name, Coverage{share.rows, {*share.value()}});
    }
  };
  add(label, all);
  for (std::size_t gpu = 0; gpu < shares.size(); ++gpu) {
    add(label + ": " + data.hardware_names[gpu], shares[gpu]);
  }
  return table;
}

}  // namespace pw
