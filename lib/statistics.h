#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pw {

// Of at least one value; the median of an even number is the mean of the two in the middle.
double mean(const std::vector<double>& values);
double median(std::vector<double> values);

// The value below which the fraction `p` (0 to 1) of at least one value lies, linear between ranks.
double quantile(std::vector<double> values, double p);

// Percentile bootstrap of the mean: where the middle `coverage` of the means of resamples lies.
// Equal on every platform for equal arguments.
struct BootstrapOptions {
  double coverage = 0.95;
  std::size_t resamples = 2000;
  std::uint32_t seed = 1;
};
std::pair<double, double> bootstrap_mean_interval(const std::vector<double>& values,
                                                  const BootstrapOptions& options = {});

}  // namespace pw
