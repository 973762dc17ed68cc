#include <algorithm>
#include <cmath>
#include <map>

#include "io/numbers.h"
#include "pw/collective.h"

namespace pw {
namespace {

constexpr double kBinsPerDecade = 96;
// A knot is dropped when the straight line passes within 0.1 % of its duration, below the spread of
// repeated measurements.
constexpr double kThinningTolerance = 1e-3;  // in ln(us)
// Beyond the last knot a byte costs what it cost on average over the last half decade.
constexpr double kTailSpan = 3.1622776601683795;  // sqrt(10)

struct Knot {
  double ln_bytes = 0;
  double ln_us = 0;
};

// The rows of one bin of sizes.
struct Bin {
  double ln_bytes = 0;               // mean
  std::vector<double> durations_us;  // ascending
};

std::vector<Bin> bins_of(const std::vector<CollectiveSample>& samples) {
  std::map<std::int64_t, std::vector<const CollectiveSample*>> rows;
  for (const CollectiveSample& sample : samples) {
    const double position = kBinsPerDecade * std::log10(static_cast<double>(sample.bytes));
    rows[static_cast<std::int64_t>(std::floor(position))].push_back(&sample);
  }
  std::vector<Bin> bins;
  for (const auto& [index, members] : rows) {
    Bin& bin = bins.emplace_back();
    for (const CollectiveSample* sample : members) {
      bin.ln_bytes += std::log(static_cast<double>(sample->bytes));
      bin.durations_us.push_back(sample->duration_us);
    }
    bin.ln_bytes /= static_cast<double>(members.size());
    std::sort(bin.durations_us.begin(), bin.durations_us.end());
  }
  return bins;
}

// The constant with the smallest mean relative error: the median with weights 1/y. `ascending`: at
// least one.
double least_relative_error(const std::vector<double>& ascending) {
  double half = 0;
  for (const double y : ascending) {
    half += 1 / y / 2;
  }
  double weight = 0;
  for (const double y : ascending) {
    weight += 1 / y;
    if (weight >= half) {
      return y;
    }
  }
  return ascending.back();
}

// Pool-adjacent-violators: of all non-decreasing durations, one per bin, those with the smallest
// mean relative error on the rows.
std::vector<Knot> monotone_knots(const std::vector<Bin>& bins) {
  struct Pool {
    std::vector<double> durations_us;  // ascending
    double level_us = 0;
    std::size_t end = 0;  // index after the pool's last bin
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const std::vector<double>& rows = bins[i].durations_us;
    pools.push_back({rows, least_relative_error(rows), i + 1});
    while (pools.size() > 1 && pools[pools.size() - 2].level_us > pools.back().level_us) {
      const Pool last = std::move(pools.back());
      pools.pop_back();
      std::vector<double>& joined = pools.back().durations_us;
      const auto middle = static_cast<std::ptrdiff_t>(joined.size());
      joined.insert(joined.end(), last.durations_us.begin(), last.durations_us.end());
      std::inplace_merge(joined.begin(), joined.begin() + middle, joined.end());
      pools.back().level_us = least_relative_error(joined);
      pools.back().end = last.end;
    }
  }
  std::vector<Knot> knots;
  for (const Pool& pool : pools) {
    while (knots.size() < pool.end) {
      knots.push_back({bins[knots.size()].ln_bytes, std::log(pool.level_us)});
    }
  }
  return knots;
}

bool on_line(const std::vector<Knot>& knots, std::size_t from, std::size_t to) {
  const Knot& a = knots[from];
  const double slope = (knots[to].ln_us - a.ln_us) / (knots[to].ln_bytes - a.ln_bytes);
  for (std::size_t i = from + 1; i < to; ++i) {
    const double line = a.ln_us + slope * (knots[i].ln_bytes - a.ln_bytes);
    if (std::abs(line - knots[i].ln_us) > kThinningTolerance) {
      return false;
    }
  }
  return true;
}

// Keeps the first and the last knot and, from each kept one, the furthest that a straight line
// reaches. Both curves have their corners at the old knots, so the tolerance holds everywhere.
std::vector<Knot> thinned(const std::vector<Knot>& knots) {
  std::vector<Knot> kept{knots.front()};
  std::size_t from = 0;
  while (from + 1 < knots.size()) {
    std::size_t to = from + 1;
    while (to + 1 < knots.size() && on_line(knots, from, to + 1)) {
      ++to;
    }
    kept.push_back(knots[to]);
    from = to;
  }
  return kept;
}

// To 6 significant digits, so that a curve in memory equals the one that a file gives back.
double rounded(double value) { return through_text(value, std::chars_format::scientific, 5); }

// What a further byte costs beyond the last knot. A curve that is too short to tell, or flat to its
// end, continues in proportion to the size.
double tail_us_per_byte(const CollectiveCurve& curve) {
  const double last = curve.bytes.back();
  const double rise_us = curve.duration_us.back() - evaluate(curve, last / kTailSpan);
  if (last / kTailSpan < curve.bytes.front() || rise_us <= 0) {
    return curve.duration_us.back() / last;
  }
  return rise_us / (last - last / kTailSpan);
}

}  // namespace

double evaluate(const CollectiveCurve& curve, double bytes) {
  const std::vector<double>& x = curve.bytes;
  const std::vector<double>& y = curve.duration_us;
  if (bytes <= x.front()) {
    return y.front();
  }
  if (bytes >= x.back()) {
    return y.back() + tail_us_per_byte(curve) * (bytes - x.back());
  }
  const auto right =
      static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), bytes) - x.begin());
  const std::size_t left = right - 1;
  const double position = std::log(bytes / x[left]) / std::log(x[right] / x[left]);
  return y[left] * std::pow(y[right] / y[left], position);
}

CollectiveCurve fit_curve(const std::vector<CollectiveSample>& samples) {
  CollectiveCurve curve;
  curve.rows = static_cast<std::int64_t>(samples.size());
  for (const Knot& knot : thinned(monotone_knots(bins_of(samples)))) {
    const double bytes = rounded(std::exp(knot.ln_bytes));
    // Two sizes on either side of a bin's edge can round to the same number.
    if (curve.bytes.empty() || bytes > curve.bytes.back()) {
      curve.bytes.push_back(bytes);
      curve.duration_us.push_back(rounded(std::exp(knot.ln_us)));
    }
  }
  return curve;
}

}  // namespace pw
