#pragma once

#include <optional>
#include <string>

#include "pw/error_band.h"
#include "pw/prediction.h"

namespace pw {

// Adds up the times of a workload and how far they may be off. The errors of one source (a model, a
// collective) are taken to be the same in all its calls, so they add; those of different sources
// are taken to be independent, so their distances from the median add in quadrature. Times without
// held-out errors count as predicted.
class BandSum {
 public:
  // `source`: the model or collective, or the operator's name where nothing is known of errors.
  void add(Phase phase, const std::string& source, const std::optional<ErrorBand>& errors,
           double us);
  PredictionBands bands(std::int64_t decode_steps) const;

 private:
  PredictionBands sums_;
  PhaseTimes without_us_;
};

// Where the bands come from, and what they leave out.
Fact describe(const PredictionBands& bands);

}  // namespace pw
