#include <algorithm>

#include "profile/sampling.h"
#include "profile/torch/device.h"
#include "profile/torch/kernels.h"
#include "profile/torch_device.h"

namespace pw {
namespace {

// The fastest of several measurements: a rate that the device sustains is what nothing disturbs.
constexpr int kAttempts = 2;

double fastest_us(TorchDevice& device, const std::function<void(std::int64_t)>& call) {
  SamplingOptions sampling;
  sampling.round_us = 200e3;
  double best = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Measurement measured =
        measure([&](std::int64_t calls) { return device.timed_us(calls, call); }, sampling);
    best = attempt == 0 ? measured.median_us : std::min(best, measured.median_us);
  }
  return best;
}

double copy_rate(TorchDevice& device, std::int64_t bytes) {
  const auto width = static_cast<std::int64_t>(at::elementSize(device.scalar_type()));
  const at::Tensor from = at::randn({bytes / width}, device.options());
  const at::Tensor to = at::empty_like(from);
  const double us = fastest_us(device, [&](std::int64_t) { to.copy_(from); });
  return 2 * static_cast<double>(from.numel() * width) / us;
}

double matrix_rate(TorchDevice& device) {
  const std::int64_t n = device.info().is_gpu ? 8192 : 2048;
  const at::Tensor a = at::randn({n, n}, device.options()), b = at::randn({n, n}, device.options());
  const double us = fastest_us(device, [&](std::int64_t) { matrix_product(a, b); });
  const auto width = static_cast<double>(n);
  return 2 * width * width * width / us;
}

// Rows of one long product each, as many as there are cores: what reading alone sustains.
double read_rate(TorchDevice& device, std::int64_t bytes) {
  const auto width = static_cast<std::int64_t>(at::elementSize(device.scalar_type()));
  constexpr std::int64_t kColumns = 4096;
  const at::Tensor matrix = at::randn({bytes / width / kColumns, kColumns}, device.options());
  const at::Tensor vector = at::randn({kColumns}, device.options());
  const double us = fastest_us(device, [&](std::int64_t) { at::mv(matrix, vector); });
  return static_cast<double>(matrix.numel() * width) / us;
}

}  // namespace

SustainedRates measure_rates(ProfiledDevice& profiled) {
  const at::NoGradGuard no_gradient;
  auto& device = dynamic_cast<TorchDevice&>(profiled);
  const std::int64_t cache = std::max<std::int64_t>(device.info().cache_bytes, 1 << 20);
  const std::int64_t large = std::max<std::int64_t>(8 * cache, 1 << 28);
  SustainedRates rates;
  rates.matrix_ops_per_us = matrix_rate(device);
  rates.copy_bytes_per_us = copy_rate(device, large);
  rates.read_bytes_per_us = read_rate(device, large);
  rates.cache_bytes_per_us = copy_rate(device, cache / 8);
  return rates;
}

}  // namespace pw
