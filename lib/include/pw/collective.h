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
using SamplesByWorkers = std::map<std::int64_t, std::vector<CollectiveSample>>;
SamplesByWorkers by_workers(const std::vector<CollectiveSample>& samples);

// Duration of one collective on one number of workers: non-decreasing and piecewise linear in
// (ln bytes, ln us); below the first knot constant, beyond the last with slope 1 (bandwidth-bound).
struct CollectiveCurve {
  std::vector<double> bytes;        // knots, ascending; at least one
  std::vector<double> duration_us;  // non-decreasing
  std::int64_t rows = 0;            // samples that it was fitted on
};
double evaluate(const CollectiveCurve& curve, double bytes);

// Fit of docs/method.md "Collectives": medians per 1/24-decade bin of size, made monotone by
// pool-adjacent-violators with the bin's rows as weight, knots on a straight line dropped and the
// rest rounded to 6 significant digits. `samples`: at least one, all of one worker count.
CollectiveCurve fit_curve(const std::vector<CollectiveSample>& samples);

// The curves of one collective on one GPU, by number of workers.
struct CollectiveModel {
  std::string hardware;                            // full device name
  std::string collective;                          // "all_reduce", "send_recv"
  std::map<std::int64_t, CollectiveCurve> curves;  // at least one
  std::string source;  // where the data came from, as the user stated it
  std::string sha256;  // of the CSV
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
  // larger on ties); on one worker 0 us with a note. send_recv always has two ends; `workers`, the
  // size of the tensor-parallel group, is then not used. No data for the GPU: bandwidth model from
  // its interconnect. Throws DataError for another collective, bytes <= 0 or workers < 1.
  CollectiveEstimate estimate(const HardwareSpec& hardware, std::string_view collective,
                              std::int64_t bytes, std::int64_t workers) const;

 private:
  std::vector<CollectiveModel> models_;
};

// Bytes that each rank of a ring all-reduce sends, as a multiple of the message: 2(n-1)/n.
double all_reduce_traffic(std::int64_t workers);

// Duration from the nominal rate of the link alone: formulas, constants and where they come from in
// docs/method.md "Collectives". The note names the link. workers >= 2 for all_reduce.
CollectiveEstimate bandwidth_model(const HardwareSpec& hardware, std::string_view collective,
                                   std::int64_t bytes, std::int64_t workers);

// Throws DataError that lists the known names unless it is "all_reduce" or "send_recv".
void check_collective(std::string_view collective);

// Reads a profiled CSV: size (bytes), num_workers, time_stats.<collective>.median (milliseconds).
// Throws DataError with the line for a row that is no measurement, and when there is no row.
std::vector<CollectiveSample> read_collective_samples(const std::filesystem::path& path,
                                                      std::string_view collective);
// One line per curve, sorted, so that a refit shows as a readable difference.
std::string collectives_json(const std::vector<CollectiveModel>& models);

}  // namespace pw
