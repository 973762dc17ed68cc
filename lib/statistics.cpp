#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace pw {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double rank = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
}

std::pair<double, double> bootstrap_mean_interval(const std::vector<double>& values,
                                                  const BootstrapOptions& options) {
  std::mt19937 generator(options.seed);
  const std::uint64_t n = values.size();
  std::vector<double> means(options.resamples);
  for (double& resample : means) {
    double sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      // The standard's distributions differ between libraries; 32 random bits times n do not.
      sum += values[(std::uint64_t{generator()} * n) >> 32];
    }
    resample = sum / static_cast<double>(n);
  }
  const double tail = (1 - options.coverage) / 2;
  return {quantile(means, tail), quantile(means, 1 - tail)};
}

}  // namespace pw
