#include "pw/calibration.h"

#include <algorithm>
#include <unordered_map>

#include "io/csv_table.h"
#include "operator_key.h"
#include "pw/gemm.h"
#include "pw/roofline.h"
#include "statistics.h"

namespace pw {
namespace {

constexpr char kDuration[] = "avg_duration", kHardware[] = "hardware", kSource[] = "source";

constexpr double kClearlyBound = 4;  // one time over the other
constexpr double kLeastUs = 100;     // of tensor work, beside which a launch is nothing

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

double l2_bytes(const HardwareSpec& hardware) { return hardware.l2_cache_kib * 1024; }

// A problem on one of two GPUs.
struct Run {
  Roofline limits;
  double duration_us = 0;  // median of its rows
};
using Runs = std::unordered_map<OperatorKey, Run, OperatorKeyHash>;

Runs runs_of(const GpuMeasurements& measured) {
  std::unordered_map<OperatorKey, std::vector<double>, OperatorKeyHash> durations;
  Runs runs;
  for (const GpuMeasurements::Row& row : measured.rows) {
    const OperatorKey key = key_of(row.config);
    durations[key].push_back(row.duration_us);
    if (runs.count(key) == 0) runs[key].limits = roofline(row.config, *measured.hardware);
  }
  for (auto& [key, run] : runs) run.duration_us = median(durations[key]);
  return runs;
}

// `shows` tells whether a run shows the rate, `limit_us` what the problem takes at the nominal one.
template <class Shows, class LimitUs>
std::optional<RelativeRate> relative_rate(const GpuMeasurements& gpu,
                                          const GpuMeasurements& reference, const Shows& shows,
                                          const LimitUs& limit_us) {
  const Runs there = runs_of(reference);
  std::vector<double> ratios;
  for (const auto& [key, run] : runs_of(gpu)) {
    const auto other = there.find(key);
    if (other == there.end() || !shows(run, *gpu.hardware) ||
        !shows(other->second, *reference.hardware)) {
      continue;
    }
    ratios.push_back(limit_us(run.limits) / run.duration_us /
                     (limit_us(other->second.limits) / other->second.duration_us));
  }
  if (ratios.empty()) return std::nullopt;
  return RelativeRate{median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75),
                      static_cast<std::int64_t>(ratios.size())};
}

}  // namespace

std::optional<SustainedRate> sustained_tensor_rate(const std::vector<GemmMeasurement>& rows,
                                                   const HardwareSpec& hardware) {
  const auto limits = [&](const GemmMeasurement& row) { return roofline(row.gemm, hardware); };
  return median_rate(
      rows, [](const GemmMeasurement& row) { return is_large(row.gemm); },
      [&](const GemmMeasurement& row) {
        return limits(row).compute_us >= std::max(kLeastUs, kClearlyBound * limits(row).dram_us);
      },
      [&](const GemmMeasurement& row) { return limits(row).compute_us / row.duration_us; });
}

std::optional<SustainedRate> sustained_dram_rate(const std::vector<GemmMeasurement>& rows,
                                                 const HardwareSpec& hardware) {
  const auto limits = [&](const GemmMeasurement& row) { return roofline(row.gemm, hardware); };
  return median_rate(
      rows, [](const GemmMeasurement& row) { return is_weight_bound(row.gemm); },
      [&](const GemmMeasurement& row) {
        return limits(row).dram_us >= kClearlyBound * limits(row).compute_us &&
               weight_bytes(row.gemm) >= kClearlyBound * l2_bytes(hardware);
      },
      [&](const GemmMeasurement& row) { return limits(row).dram_us / row.duration_us; });
}

MeasuredFile::MeasuredFile(const std::filesystem::path& path, const OperatorFamily& family,
                           const std::string& source)
    : table_(std::make_unique<CsvTable>(CsvTable::read(path))), family_(&family), source_(source) {
  table_->require_no_bad_lines();
  std::vector<std::string_view> required = family.problem_columns;
  required.insert(required.end(), {kDuration, kHardware});
  if (!source.empty()) {
    required.emplace_back(kSource);
  }
  table_->require_columns(required);
}

MeasuredFile::~MeasuredFile() = default;

GpuMeasurements MeasuredFile::rows_of(const HardwareSpec& gpu,
                                      const HardwareCatalog& catalog) const {
  GpuMeasurements measured{&gpu, {}};
  for (std::size_t row = 0; row < table_->rows(); ++row) {
    const CsvRow fields(*table_, row);
    if (catalog.find(fields.text(kHardware)) != &gpu ||
        (!source_.empty() && fields.text(kSource) != source_)) {
      continue;
    }
    const double duration_us = fields.number(kDuration);
    if (duration_us <= 0) {
      throw DataError(fields.where(kDuration) + " is " + fields.text(kDuration) +
                      ", expected microseconds above 0");
    }
    measured.rows.push_back({family_->read(fields), duration_us});
  }
  if (measured.rows.empty()) {
    throw DataError(table_->path().string() + " has no rows of " + gpu.name +
                    (source_.empty() ? "" : " from source " + source_));
  }
  return measured;
}

std::optional<RelativeRate> relative_tensor_rate(const GpuMeasurements& gpu,
                                                 const GpuMeasurements& reference) {
  constexpr double kTensorBound = 1.5;  // fused experts have few rows each: seldom more
  return relative_rate(
      gpu, reference,
      [](const Run& run, const HardwareSpec&) {
        return run.limits.compute_us >= std::max(kLeastUs, kTensorBound * run.limits.dram_us);
      },
      [](const Roofline& limits) { return limits.compute_us; });
}

std::optional<RelativeRate> relative_dram_rate(const GpuMeasurements& gpu,
                                               const GpuMeasurements& reference) {
  return relative_rate(
      gpu, reference,
      [](const Run& run, const HardwareSpec& hardware) {
        const double bytes = run.limits.dram_us * hardware.memory_bandwidth * 1e3;
        return run.limits.dram_us >= kClearlyBound * run.limits.compute_us &&
               bytes >= kClearlyBound * l2_bytes(hardware);
      },
      [](const Roofline& limits) { return limits.dram_us; });
}

}  // namespace pw
