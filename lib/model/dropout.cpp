#include "model/dropout.h"

#include <cmath>

// Integers and a choice between two values: the same masks on every instruction set.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PW_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define PW_CLONES
#endif

namespace pw {
namespace {

constexpr std::int64_t kDrawsPerNumber = 4;  // of 16 bits
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;

// SplitMix64 (Steele, Lea and Flood 2014): the number at this place of its counter.
inline std::uint64_t number_at(std::uint64_t place) {
  std::uint64_t z = place;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

PW_CLONES void fill_mask(std::uint64_t state, std::int64_t numbers, std::uint32_t threshold,
                         float scale, float* mask) {
  for (std::int64_t i = 0; i < numbers; ++i) {
    const std::uint64_t bits = number_at(state + static_cast<std::uint64_t>(i + 1) * kStep);
    for (std::int64_t draw = 0; draw < kDrawsPerNumber; ++draw) {
      const auto value = static_cast<std::uint32_t>(bits >> (16 * draw)) & 0xffff;
      mask[i * kDrawsPerNumber + draw] = value < threshold ? 0.0f : scale;
    }
  }
}

}  // namespace

FastDropout::FastDropout(double rate, std::uint64_t seed)
    : state_(seed), threshold_(static_cast<std::uint16_t>(std::lround(rate * 65536))) {
  scale_ = static_cast<float>(65536.0 / (65536 - threshold_));
}

torch::Tensor FastDropout::operator()(const torch::Tensor& x) {
  if (threshold_ == 0) {
    return x;
  }
  const std::int64_t numbers = (x.numel() + kDrawsPerNumber - 1) / kDrawsPerNumber;
  torch::Tensor mask = torch::empty({numbers * kDrawsPerNumber}, torch::kFloat32);
  fill_mask(state_, numbers, threshold_, scale_, mask.data_ptr<float>());
  state_ += static_cast<std::uint64_t>(numbers) * kStep;
  mask = mask.slice(0, 0, x.numel()).view(x.sizes());
  return x * mask.to(x.device());
}

}  // namespace pw
