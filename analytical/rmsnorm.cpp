#include "pw/rmsnorm.h"

#include <algorithm>
#include <numeric>

#include "pipes.h"
#include "pw/int_math.h"
#include "pw/operators.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;
constexpr std::int64_t kMaxThreads = 1024;
// Issue cost per instruction that the published features carry.
constexpr double kFmaPerInstruction = 1.616838;
constexpr double kXuPerInstruction = 1.666667;

struct Instructions {
  std::int64_t fma = 0;
  std::int64_t xu = 0;
};

// Warp instructions of one CTA (one row of width `dim`).
Instructions row_instructions(std::int64_t dim) {
  const std::int64_t vector = std::gcd(16 / kBf16Bytes, dim);
  const std::int64_t threads = std::min(kMaxThreads, std::max<std::int64_t>(1, dim / vector));
  const std::int64_t warps = ceil_div(threads, 32);
  const std::int64_t rounds = ceil_div(dim, vector * threads);
  const std::int64_t values = rounds * vector * warps;
  Instructions row{5 * values + 6 * warps + 5, 3 * warps};
  const std::int64_t rest = dim % (threads * vector);
  if (rest > 0) {
    const std::int64_t partial = std::min(rest, threads);
    row.fma += ceil_div(3 * partial, 32);
    row.xu += ceil_div(partial, 32);
  }
  return row;
}

}  // namespace

RmsNormConfig RmsNormConfig::read(const Fields& fields) {
  RmsNormConfig config;
  read_numbers(fields, config);
  return config;
}

PipelineFeatures analyze(const RmsNormConfig& config, const HardwareSpec& hardware,
                         const AnalysisOptions&) {
  if (config.seq < 0 || config.dim < 1) {
    throw DataError("an RMSNorm needs seq >= 0 and dim >= 1");
  }
  const Instructions row = row_instructions(config.dim);
  const double fma = static_cast<double>(row.fma) * kFmaPerInstruction;
  const double xu = static_cast<double>(row.xu) * kXuPerInstruction;
  return row_kernel_features(fma, xu, config.seq, config.dim, hardware);
}

}  // namespace pw
