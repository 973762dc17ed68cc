#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "pw/collective.h"
#include "statistics.h"

namespace pw {
namespace {

constexpr double kBinsPerDecade = 24;
// A knot is dropped when the straight line passes within 0.05 % of its duration, far below the
// spread of repeated measurements.
constexpr double kThinningTolerance = 5e-4;  // in ln(us)

struct Knot {
  double ln_bytes = 0;
  double ln_us = 0;
  double weight = 0;  // rows
};

std::vector<Knot> bin_medians(const std::vector<CollectiveSample>& samples) {
  struct Bin {
    std::vector<double> ln_bytes, ln_us;
  };
  std::map<std::int64_t, Bin> bins;
  for (const CollectiveSample& sample : samples) {
    const double bytes = static_cast<double>(sample.bytes);
    Bin& bin = bins[static_cast<std::int64_t>(std::floor(kBinsPerDecade * std::log10(bytes)))];
    bin.ln_bytes.push_back(std::log(bytes));
    bin.ln_us.push_back(std::log(sample.duration_us));
  }
  std::vector<Knot> knots;
  for (const auto& [index, bin] : bins) {
    knots.push_back(
        {mean(bin.ln_bytes), median(bin.ln_us), static_cast<double>(bin.ln_bytes.size())});
  }
  return knots;
}

// Pool-adjacent-violators: the non-decreasing ln_us with the least weighted squared change.
void make_monotone(std::vector<Knot>& knots) {
  struct Pool {
    double weighted_sum = 0, weight = 0;
    std::size_t end = 0;  // index after the pool's last knot
    double level() const { return weighted_sum / weight; }
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < knots.size(); ++i) {
    pools.push_back({knots[i].ln_us * knots[i].weight, knots[i].weight, i + 1});
    while (pools.size() > 1 && pools[pools.size() - 2].level() > pools.back().level()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().weighted_sum += last.weighted_sum;
      pools.back().weight += last.weight;
      pools.back().end = last.end;
    }
  }
  std::size_t i = 0;
  for (const Pool& pool : pools) {
    for (; i < pool.end; ++i) {
      knots[i].ln_us = pool.level();
    }
  }
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
double rounded(double value) {
  char text[32];
  const auto written =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 5);
  std::from_chars(text, written.ptr, value);
  return value;
}

}  // namespace

double evaluate(const CollectiveCurve& curve, double bytes) {
  const std::vector<double>& x = curve.bytes;
  const std::vector<double>& y = curve.duration_us;
  if (bytes <= x.front()) {
    return y.front();
  }
  if (bytes >= x.back()) {
    return y.back() * (bytes / x.back());
  }
  const auto right =
      static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), bytes) - x.begin());
  const std::size_t left = right - 1;
  const double position = std::log(bytes / x[left]) / std::log(x[right] / x[left]);
  return y[left] * std::pow(y[right] / y[left], position);
}

CollectiveCurve fit_curve(const std::vector<CollectiveSample>& samples) {
  std::vector<Knot> knots = bin_medians(samples);
  make_monotone(knots);
  CollectiveCurve curve;
  curve.rows = static_cast<std::int64_t>(samples.size());
  for (const Knot& knot : thinned(knots)) {
    const double bytes = rounded(std::exp(knot.ln_bytes));
    // Two sizes on either side of a bin's edge can round to the same number.
    if (curve.bytes.empty() || bytes > curve.bytes.back()) {
      curve.bytes.push_back(bytes);
      curve.duration_us.push_back(rounded(std::exp(knot.ln_us)));
    }
  }
  return curve;
}

SamplesByWorkers by_workers(const std::vector<CollectiveSample>& samples) {
  SamplesByWorkers groups;
  for (const CollectiveSample& sample : samples) {
    groups[sample.workers].push_back(sample);
  }
  return groups;
}

}  // namespace pw
