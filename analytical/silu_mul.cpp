#include "pw/silu_mul.h"

#include <algorithm>

#include "pipes.h"
#include "pw/int_math.h"
#include "pw/operators.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kVector = 16 / kBf16Bytes;
constexpr double kFmaPerElement = 4 * 1.71875;
constexpr double kXuPerElement = 2 * 1.1875;

// Elements of one row as the published features count them: warp-level work in whole rounds, but
// thread-level work in the remainder. Models were fitted on that mix.
std::int64_t row_elements(std::int64_t dim) {
  const std::int64_t threads = std::min(kMaxThreads, dim / kVector);
  const std::int64_t warps = ceil_div(threads, 32);
  const std::int64_t rounds = ceil_div(dim / kVector, threads);
  const std::int64_t rest = dim % (kVector * threads);
  return kVector * rounds * warps + (rest > 0 ? std::min(rest, threads) : 0);
}

}  // namespace

SiluMulConfig SiluMulConfig::read(const Fields& fields) {
  SiluMulConfig config;
  read_numbers(fields, config);
  config.gated = !fields.has("gated") || fields.flag("gated");
  return config;
}

PipelineFeatures analyze(const SiluMulConfig& config, const HardwareSpec& hardware,
                         const AnalysisOptions&) {
  if (config.seq < 0 || config.dim < kVector) {
    throw DataError("SiLU-and-mul needs seq >= 0 and an input row (dim) of at least 8 elements");
  }
  const std::int64_t elements = row_elements(config.dim);
  const double fma = static_cast<double>(elements) * kFmaPerElement;
  const double xu = static_cast<double>(elements) * kXuPerElement;
  return row_kernel_features(fma, xu, config.seq, config.dim, hardware);
}

}  // namespace pw
