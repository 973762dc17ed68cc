#pragma once

#include <cstdint>
#include <limits>

namespace pw {

// Lowers the learning rate when the validation loss stops falling, by the rules of PyTorch's
// ReduceLROnPlateau (mode min, relative threshold, no cooldown), which LibTorch's C++ API lacks.
class PlateauSchedule {
 public:
  struct State {
    double learning_rate = 0;
    double best = std::numeric_limits<double>::infinity();
    std::int64_t bad_epochs = 0;
  };

  PlateauSchedule(double learning_rate, double factor, std::int64_t patience,
                  double min_learning_rate)
      : factor_(factor), patience_(patience), min_learning_rate_(min_learning_rate) {
    state_.learning_rate = learning_rate;
  }

  // Takes the loss of one epoch and returns the learning rate of the next.
  double step(double loss);
  double learning_rate() const { return state_.learning_rate; }

  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  double factor_;
  std::int64_t patience_;
  double min_learning_rate_;
  State state_;
};

}  // namespace pw
