#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace pw {

// Dropout with a generator of its own: LibTorch draws its masks one number at a time from a
// Mersenne Twister, which costs as much as the matrix products of our small network.
class FastDropout {
 public:
  // `rate`: share of values set to zero, in steps of 2^-16; the others are scaled by 1/(1 - rate).
  FastDropout(double rate, std::uint64_t seed);

  // The mask is made on the host, so that it is the same on every device.
  torch::Tensor operator()(const torch::Tensor& x);

  std::uint64_t state() const { return state_; }
  void restore(std::uint64_t state) { state_ = state; }

 private:
  std::uint64_t state_;
  std::uint16_t threshold_;  // 16-bit draws below it are dropped
  float scale_;
};

}  // namespace pw
