#include "model/plateau.h"

#include <algorithm>

namespace pw {
namespace {

constexpr double kThreshold = 1e-4;     // an epoch is better when it beats the best by this share
constexpr double kSmallestStep = 1e-8;  // smaller changes of the learning rate are not applied

}  // namespace

double PlateauSchedule::step(double loss) {
  if (loss < state_.best * (1 - kThreshold)) {
    state_.best = loss;
    state_.bad_epochs = 0;
  } else {
    ++state_.bad_epochs;
  }
  if (state_.bad_epochs > patience_) {
    state_.bad_epochs = 0;
    const double lower = std::max(state_.learning_rate * factor_, min_learning_rate_);
    if (state_.learning_rate - lower > kSmallestStep) {
      state_.learning_rate = lower;
    }
  }
  return state_.learning_rate;
}

}  // namespace pw
