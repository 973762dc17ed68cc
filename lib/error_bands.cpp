#include "error_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "metrics.h"
#include "model/split.h"

namespace pw {
namespace {

constexpr std::size_t kFewestErrors = 9;  // the fewest whose smallest is the quantile 0.1
constexpr float kSmallestEfficiency = 1e-9f;

struct WeightedError {
  double error, weight;
};

// Of errors that ascend and whose weights are 1 together, when the next error is of one more unit
// like the `units` that they come from: that unit's weight lies beyond them, half at each end.
double weighted_quantile(const std::vector<WeightedError>& sorted, double units, double share) {
  double place_before = 0, error_before = sorted.front().error, sum = 0;
  for (const WeightedError& each : sorted) {
    const double place = (0.5 + units * (sum + each.weight / 2)) / (units + 1);
    if (place >= share) {
      const double step = (share - place_before) / (place - place_before);
      return error_before + step * (each.error - error_before);
    }
    sum += each.weight;
    place_before = place;
    error_before = each.error;
  }
  return sorted.back().error;
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

// Without coverage; absent without the band of all GPUs.
std::optional<HeldOutErrors> bands(const Dataset& data, const ErrorsOfGpus& errors,
                                   const std::optional<ErrorBand>& all,
                                   const std::string& held_out) {
  if (!all) {
    return std::nullopt;
  }
  HeldOutErrors result{held_out, *all, {}};
  for (std::size_t gpu = 0; gpu < errors.size(); ++gpu) {
    if (const std::optional<ErrorBand> own = error_band(errors[gpu])) {
      result.of_gpu.emplace_back(data.hardware_names[gpu], *own);
    }
  }
  return result;
}

std::optional<HeldOutErrors> known_gpu_bands(const Dataset& data,
                                             const std::vector<FitErrors>& fits,
                                             const std::string& held_out) {
  const ErrorsOfGpus errors = by_gpu(data, fits);
  return bands(data, errors, error_band(joined(errors)), held_out);
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

void set_coverage(const Dataset& data, const std::vector<Share>& shares, HeldOutErrors& errors) {
  for (auto& [name, band] : errors.of_gpu) {
    const auto gpu = std::find(data.hardware_names.begin(), data.hardware_names.end(), name);
    band.coverage = shares[static_cast<std::size_t>(gpu - data.hardware_names.begin())].value();
  }
}

}  // namespace

const ErrorBand& HeldOutErrors::of(const std::string& gpu) const {
  const auto own = std::find_if(of_gpu.begin(), of_gpu.end(),
                                [&](const auto& entry) { return entry.first == gpu; });
  return own == of_gpu.end() ? all : own->second;
}

std::optional<ErrorBand> error_band(const std::vector<std::vector<double>>& units) {
  const auto filled = static_cast<double>(
      std::count_if(units.begin(), units.end(), [](const auto& unit) { return !unit.empty(); }));
  std::vector<WeightedError> sorted;
  for (const std::vector<double>& unit : units) {
    for (const double error : unit) {
      sorted.push_back({error, 1 / (filled * static_cast<double>(unit.size()))});
    }
  }
  if (sorted.size() < kFewestErrors) {
    return std::nullopt;
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.error < b.error; });
  const auto quantile = [&](double share) { return weighted_quantile(sorted, filled, share); };
  return ErrorBand{static_cast<std::int64_t>(sorted.size()), quantile(0.1), quantile(0.5),
                   quantile(0.9), std::nullopt};
}

std::optional<ErrorBand> error_band(const std::vector<double>& errors) {
  std::vector<std::vector<double>> units;
  for (const double error : errors) {
    units.push_back({error});
  }
  return error_band(units);
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
  set_coverage(data, shares, *result);
  return result;
}

std::optional<HeldOutErrors> new_gpu_errors(const Dataset& data, const std::vector<FitErrors>& fits,
                                            const std::string& held_out) {
  const ErrorsOfGpus errors = by_gpu(data, fits);
  std::optional<HeldOutErrors> result = bands(data, errors, error_band(errors), held_out);
  if (!result) {
    return std::nullopt;
  }
  std::vector<Share> shares(errors.size());
  double sum = 0;
  for (std::size_t gpu = 0; gpu < errors.size(); ++gpu) {
    ErrorsOfGpus others = errors;
    others[gpu].clear();
    if (const std::optional<ErrorBand> band = error_band(others)) {
      for (const double error : errors[gpu]) {
        shares[gpu].add(is_within(error, *band));
      }
    }
    sum += shares[gpu].value().value_or(0);
  }
  const auto tested = std::count_if(shares.begin(), shares.end(),
                                    [](const Share& share) { return share.rows > 0; });
  if (tested > 0) {
    result->all.coverage = sum / static_cast<double>(tested);
  }
  set_coverage(data, shares, *result);
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
