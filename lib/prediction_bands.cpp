#include "prediction_bands.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "comma_list.h"

namespace pw {
namespace {

// A phase of which a larger share has no held-out errors has no band: its width would be that of
// what happens to be known.
constexpr double kMostWithoutErrors = 0.25;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

struct PhaseBand {
  std::optional<TimeBand> band;
  double share_without = 0;
};

PhaseBand sum(const std::vector<BandPart>& parts, double without_us,
              double (*of)(const PhaseTimes&)) {
  double predicted = without_us, median = without_us, down = 0, up = 0;
  for (const BandPart& part : parts) {
    predicted += of(part.predicted_us);
    median += of(part.p50_us);
    down = std::hypot(down, of(part.p50_us) - of(part.p10_us));
    up = std::hypot(up, of(part.p90_us) - of(part.p50_us));
  }
  PhaseBand result;
  if (predicted > 0) {
    result.share_without = without_us / predicted;
    if (result.share_without <= kMostWithoutErrors) {
      result.band = TimeBand{median - down, median + up};
    }
  }
  return result;
}

}  // namespace

void BandSum::add(Phase phase, const std::string& source, const std::optional<ErrorBand>& errors,
                  double us) {
  const auto add_to = [&](PhaseTimes& times, double time) {
    (phase == Phase::prefill ? times.prefill : times.decode) += time;
  };
  if (!errors) {
    add_to(without_us_, us);
    auto& names = sums_.without_errors;
    if (us > 0 && std::find(names.begin(), names.end(), source) == names.end()) {
      names.push_back(source);
    }
    return;
  }
  auto part = std::find_if(sums_.parts.begin(), sums_.parts.end(),
                           [&](const BandPart& each) { return each.source == source; });
  if (part == sums_.parts.end()) {
    part = sums_.parts.insert(part, BandPart{source, {}, {}, {}, {}});
  }
  add_to(part->predicted_us, us);
  add_to(part->p10_us, us * std::exp(errors->p10));
  add_to(part->p50_us, us * std::exp(errors->p50));
  add_to(part->p90_us, us * std::exp(errors->p90));
}

PredictionBands BandSum::bands(std::int64_t decode_steps) const {
  PredictionBands result = sums_;
  const auto prefill = [](const PhaseTimes& times) { return times.prefill; };
  const auto decode = [](const PhaseTimes& times) { return times.decode; };
  const auto total = [](const PhaseTimes& times) { return times.prefill + times.decode; };
  const PhaseBand of_prefill = sum(sums_.parts, prefill(without_us_), prefill);
  const PhaseBand of_decode = sum(sums_.parts, decode(without_us_), decode);
  const PhaseBand of_total = sum(sums_.parts, total(without_us_), total);
  result.prefill = of_prefill.band;
  result.total = of_total.band;
  if (of_decode.band) {
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, decode_steps));
    result.decode_step = TimeBand{of_decode.band->p10_us / steps, of_decode.band->p90_us / steps};
  }
  result.share_without_errors = {of_prefill.share_without, of_decode.share_without};
  result.total_share_without_errors = of_total.share_without;
  return result;
}

namespace {

std::string sentence_of(const PredictionBands& bands, const std::vector<std::string>& sources) {
  std::string text = sources.empty() ? "no p10-p90: no held-out errors are known"
                                     : "p10-p90: from held-out errors of " + comma_list(sources);
  if (bands.without_errors.empty()) {
    return text;
  }
  text += "; " + percent(bands.total_share_without_errors) +
          " of the total time has none and counts as predicted (" +
          comma_list(bands.without_errors) + ")";
  const auto add_missing = [&](const char* phase, double share) {
    if (share > kMostWithoutErrors) {
      text +=
          std::string("; no p10-p90 of ") + phase + ", " + percent(share) + " of which has none";
    }
  };
  add_missing("prefill", bands.share_without_errors.prefill);
  add_missing("decode", bands.share_without_errors.decode);
  add_missing("the total", bands.total_share_without_errors);
  return text;
}

}  // namespace

Fact describe(const PredictionBands& bands) {
  std::vector<std::string> sources;
  for (const BandPart& part : bands.parts) sources.push_back(part.source);
  return {FactKind::error_band,
          sentence_of(bands, sources),
          {{"sources", sources},
           {"without_errors", bands.without_errors},
           {"share_without_errors", bands.total_share_without_errors}}};
}

}  // namespace pw
