#include "pw/calibration.h"

#include "pw/roofline.h"
#include "statistics.h"

namespace pw {
namespace {

constexpr double kClearlyBound = 4;  // one time over the other

double weight_bytes(const GemmConfig& gemm) {
  return 2.0 * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
}

bool is_large(const GemmConfig& gemm) {
  return gemm.m >= 4096 && gemm.n >= 4096 && gemm.k >= 4096 &&
         static_cast<double>(gemm.m) * static_cast<double>(gemm.n) > 3e7;
}

bool is_weight_bound(const GemmConfig& gemm) { return gemm.m <= 32 && weight_bytes(gemm) >= 300e6; }

// The median of `fraction` over rows that satisfy `strict`, or `lenient` where none does.
template <class Strict, class Lenient, class Fraction>
std::optional<SustainedRate> median_rate(const std::vector<GemmMeasurement>& rows,
                                         const Strict& strict, const Lenient& lenient,
                                         const Fraction& fraction) {
  std::vector<double> large, few;
  for (const GemmMeasurement& row : rows) {
    if (strict(row)) {
      large.push_back(fraction(row));
    } else if (lenient(row)) {
      few.push_back(fraction(row));
    }
  }
  const bool large_rows = !large.empty();
  const std::vector<double>& chosen = large_rows ? large : few;
  if (chosen.empty()) {
    return std::nullopt;
  }
  return SustainedRate{median(chosen), static_cast<std::int64_t>(chosen.size()), large_rows};
}

}  // namespace

std::optional<SustainedRate> sustained_tensor_rate(const std::vector<GemmMeasurement>& rows,
                                                   const HardwareSpec& hardware) {
  const auto limits = [&](const GemmMeasurement& row) { return roofline(row.gemm, hardware); };
  return median_rate(
      rows, [](const GemmMeasurement& row) { return is_large(row.gemm); },
      [&](const GemmMeasurement& row) {
        return limits(row).compute_us >= std::max(100.0, kClearlyBound * limits(row).dram_us);
      },
      [&](const GemmMeasurement& row) { return limits(row).compute_us / row.duration_us; });
}

std::optional<SustainedRate> sustained_dram_rate(const std::vector<GemmMeasurement>& rows,
                                                 const HardwareSpec& hardware) {
  const auto limits = [&](const GemmMeasurement& row) { return roofline(row.gemm, hardware); };
  const double l2_bytes = hardware.l2_cache_kib * 1024;
  return median_rate(
      rows, [](const GemmMeasurement& row) { return is_weight_bound(row.gemm); },
      [&](const GemmMeasurement& row) {
        return limits(row).dram_us >= kClearlyBound * limits(row).compute_us &&
               weight_bytes(row.gemm) >= kClearlyBound * l2_bytes;
      },
      [&](const GemmMeasurement& row) { return limits(row).dram_us / row.duration_us; });
}

}  // namespace pw
