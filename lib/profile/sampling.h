#pragma once

#include <cstdint>
#include <functional>

namespace pw {

// How a duration is measured. A sample is the mean of as many calls as `least_sample_us` needs; a
// round is as many samples as fit its time. Rounds with a wide spread are outliers and are
// repeated.
struct SamplingOptions {
  double warm_up_us = 10e3;
  double least_sample_us = 500;
  std::int64_t least_samples = 7, most_samples = 25;
  double round_us = 100e3;
  double wide_spread = 0.1;
  std::int64_t most_rounds = 3;
};

struct Measurement {
  double median_us = 0;  // of one call
  double spread = 0;     // (third quartile - first quartile) / median of the samples
  std::int64_t samples = 0;
  std::int64_t rounds = 0;  // made; the one with the smallest spread is kept
};

// Runs that many calls back to back and returns their duration together, in us.
using TimedCalls = std::function<double(std::int64_t calls)>;

Measurement measure(const TimedCalls& timed_calls, const SamplingOptions& options);

}  // namespace pw
