#include "model/plateau.h"

#include <algorithm>

namespace pw {
namespace {

constexpr double kThreshold = 1e-4;     // an epoch is better when it beats the best by this share
constexpr double kSmallestStep = 1e-8;  // smaller changes of the learning rate are not applied

}  // namespace

double PlateauSchedule::step(double loss) {
  if (loss < best_ * (1 - kThreshold)) {
    best_ = loss;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (bad_epochs_ > patience_) {
    bad_epochs_ = 0;
    const double lower = std::max(learning_rate_ * factor_, min_learning_rate_);
    if (learning_rate_ - lower > kSmallestStep) {
      learning_rate_ = lower;
    }
  }
  return learning_rate_;
}

}  // namespace pw
