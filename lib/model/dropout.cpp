#include "model/dropout.h"

#include <cmath>

namespace pw {

FastDropout::FastDropout(double rate, std::uint64_t seed)
    : state_(seed), threshold_(static_cast<std::uint16_t>(std::lround(rate * 65536))) {
  scale_ = static_cast<float>(65536.0 / (65536 - threshold_));
}

// SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t FastDropout::next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

torch::Tensor FastDropout::operator()(const torch::Tensor& x) {
  if (threshold_ == 0) {
    return x;
  }
  torch::Tensor mask = torch::empty(x.sizes(), torch::kFloat32);
  auto* values = mask.data_ptr<float>();
  const std::int64_t count = mask.numel();
  for (std::int64_t i = 0; i < count; i += 4) {
    std::uint64_t bits = next();
    for (std::int64_t j = i; j < std::min(i + 4, count); ++j, bits >>= 16) {
      values[j] = (bits & 0xffff) < threshold_ ? 0.0f : scale_;
    }
  }
  return x * mask.to(x.device());
}

}  // namespace pw
