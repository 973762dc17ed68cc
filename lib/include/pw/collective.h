#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pw/hardware_spec.h"

namespace pw {

// One measured call.
struct CollectiveSample {
  std::int64_t bytes = 0;
  std::int64_t workers = 0;
  double duration_us = 0;
};

// Duration of one collective on one number of workers: non-decreasing and piecewise linear in
// (ln bytes, ln us); below the first knot constant, beyond the last with slope 1 (bandwidth-bound).
struct CollectiveCurve {
  std::vector<double> bytes;        // knots, ascending
  std::vector<double> duration_us;  // non-decreasing
};
double evaluate(const CollectiveCurve& curve, double bytes);

// Fit of docs/method.md "Collectives": medians per 1/24-decade bin of size, made monotone by
// pool-adjacent-violators with the bin's rows as weight, knots on a straight line dropped.
CollectiveCurve fit_curve(const std::vector<CollectiveSample>& samples);

// The curves of one collective on one GPU, by number of workers.
struct CollectiveModel {
  std::string hardware;    // full device name
  std::string collective;  // "all_reduce", "send_recv"
  std::map<std::int64_t, CollectiveCurve> curves;
  std::string source;  // where the data came from
};

// A result and what a reader must know about it: substituted worker count, extrapolated size,
// bandwidth model instead of data. Empty note: as measured.
struct CollectiveEstimate {
  double duration_us = 0;
  std::string note;
};

class CollectiveCatalog {
 public:
  CollectiveCatalog() = default;
  static CollectiveCatalog read(const std::filesystem::path& path);  // checkpoints/collectives.json
  explicit CollectiveCatalog(std::vector<CollectiveModel> models) : models_(std::move(models)) {}

  const std::vector<CollectiveModel>& models() const { return models_; }
  // all_reduce on an unmeasured worker count: scaled by 2(n-1)/n from the nearest measured one (the
  // larger on ties). send_recv always has two ends; `workers` is then not used. One worker: 0 us
  // with a note. No data for the GPU: bandwidth model from its interconnect.
  CollectiveEstimate estimate(const HardwareSpec& hardware, std::string_view collective,
                              std::int64_t bytes, std::int64_t workers) const;

 private:
  std::vector<CollectiveModel> models_;
};

// Reads a profiled CSV: size (bytes), num_workers, time_stats.<collective>.median (milliseconds).
std::vector<CollectiveSample> read_collective_samples(const std::filesystem::path& path,
                                                      std::string_view collective);
std::string collectives_json(const std::vector<CollectiveModel>& models);

}  // namespace pw
