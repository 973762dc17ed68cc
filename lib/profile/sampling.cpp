#include "profile/sampling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pw/fields.h"
#include "statistics.h"

namespace pw {
namespace {

constexpr std::int64_t kMostCallsPerSample = 256;  // more would overflow a GPU's launch queue

double checked(double us) {
  if (!std::isfinite(us) || us < 0) {
    throw DataError("the clock told a duration of " + std::to_string(us) +
                    " us, expected a positive one");
  }
  return us;
}

std::int64_t warm_up(const TimedCalls& timed_calls, const SamplingOptions& options) {
  timed_calls(1);  // what happens once: loading of kernels, first touch of memory
  double us_per_call = checked(timed_calls(1));
  for (double spent = us_per_call; spent < options.warm_up_us;) {
    constexpr std::int64_t kCalls = 8;
    const double us = checked(timed_calls(kCalls));
    us_per_call = us / static_cast<double>(kCalls);
    spent += std::max(us, 1.0);
  }
  const double calls = std::ceil(options.least_sample_us / std::max(us_per_call, 1e-3));
  return static_cast<std::int64_t>(
      std::clamp(calls, 1.0, static_cast<double>(kMostCallsPerSample)));
}

Measurement one_round(const TimedCalls& timed_calls, std::int64_t calls,
                      const SamplingOptions& options) {
  std::vector<double> samples;
  double spent_us = 0;
  const auto count = [&] { return static_cast<std::int64_t>(samples.size()); };
  while (count() < options.least_samples ||
         (count() < options.most_samples && spent_us < options.round_us)) {
    const double us = checked(timed_calls(calls));
    samples.push_back(us / static_cast<double>(calls));
    spent_us += us;
  }
  Measurement round;
  round.median_us = median(samples);
  round.spread = (quantile(samples, 0.75) - quantile(samples, 0.25)) / round.median_us;
  round.samples = count();
  return round;
}

}  // namespace

Measurement measure(const TimedCalls& timed_calls, const SamplingOptions& options) {
  const std::int64_t calls = warm_up(timed_calls, options);
  Measurement best;
  std::int64_t rounds = 0;
  do {
    const Measurement round = one_round(timed_calls, calls, options);
    if (!(round.median_us > 0)) {
      throw DataError("the clock told a duration of 0 us: its resolution is too coarse");
    }
    if (++rounds == 1 || round.spread < best.spread) {
      best = round;
    }
  } while (best.spread > options.wide_spread && rounds < options.most_rounds);
  best.rounds = rounds;
  return best;
}

}  // namespace pw
