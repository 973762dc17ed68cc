#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/collective_forest.h"
#include "pw/collective_sample.h"
#include "pw/error_band.h"
#include "pw/fact.h"
#include "pw/hardware_spec.h"

namespace pw {

// Duration of one collective on one number of workers: non-decreasing and piecewise linear in
// (ln bytes, ln us); below the first knot constant, beyond the last a further byte costs what it
// cost on average over the last half decade.
struct CollectiveCurve {
  std::vector<double> bytes;        // knots, ascending; at least one
  std::vector<double> duration_us;  // non-decreasing
  std::int64_t rows = 0;            // samples that it was fitted on
};
double evaluate(const CollectiveCurve& curve, double bytes);

// Fit of docs/method.md "Collectives": of all non-decreasing durations per 1/96-decade bin of size
// those with the smallest mean relative error, knots on a straight line dropped and the rest
// rounded to 6 significant digits. `samples`: at least one, all of one worker count.
CollectiveCurve fit_curve(const std::vector<CollectiveSample>& samples);

enum class CollectiveKind { monotone, forest };
std::string_view to_string(CollectiveKind kind);

// Which statistic of the repeated calls of a measurement is meant by its duration.
enum class CallStatistic { median, mean };
std::string_view to_string(CallStatistic statistic);

// Relative errors in %.
struct PercentErrors {
  std::int64_t rows = 0;
  double mean_percent = 0, median_percent = 0;
};
struct NamedErrors {
  std::string name;  // which rows: "all", a range of sizes, "extrapolated"
  PercentErrors summary;
  std::optional<ErrorBand> band = std::nullopt;  // of the same errors, if there are enough
};

// What answers for one collective on one GPU: curves by number of workers, or a forest.
struct CollectiveModel {
  std::string hardware;  // full device name
  // "all_reduce" (NCCL), "custom_all_reduce" (the engine's own kernel for small messages, in a CUDA
  // graph) or "send_recv"
  std::string collective;
  std::map<std::int64_t, CollectiveCurve> curves;  // at least one, none beside a forest
  std::string source;                              // of the data, as the user stated it
  std::string sha256;                              // of the CSV
  std::optional<CollectiveForest> forest = std::nullopt;
  CallStatistic statistic = CallStatistic::median;
  std::vector<NamedErrors> errors = {};  // held-out, see error_table in pw/collective_errors.h
  // Of the GPU, to find a stand-in for one without data: "hopper", "nvlink"; empty = unknown.
  std::string architecture = {};
  std::string interconnect = {};

  CollectiveKind kind() const { return forest ? CollectiveKind::forest : CollectiveKind::monotone; }
};

// Fits the curves or the forest of a model, and nothing else of it. `samples`: at least one.
CollectiveModel fit_model(CollectiveKind kind, const std::vector<CollectiveSample>& samples);
// Duration in us on a worker count of the samples; a forest answers for any.
double evaluate(const CollectiveModel& model, std::int64_t bytes, std::int64_t workers);

// A result and what a reader must know about it: substituted worker count, extrapolated size,
// bandwidth model instead of data. No facts: as measured.
struct CollectiveEstimate {
  double duration_us = 0;
  Facts facts;
  // Held-out errors of messages of this size, where the answer is from data of the GPU and number
  // of workers themselves.
  std::optional<ErrorBand> errors = std::nullopt;
};

// What is done about worker counts.
enum class WorkerRules {
  scaled,     // an unmeasured count is scaled from the nearest one, a transfer has two ends
  published,  // a forest is asked for the tensor-parallel size as it is; curves as above
};

class CollectiveCatalog {
 public:
  CollectiveCatalog() = default;
  explicit CollectiveCatalog(std::vector<CollectiveModel> models,
                             WorkerRules rules = WorkerRules::scaled)
      : models_(std::move(models)), rules_(rules) {}
  static CollectiveCatalog read(const std::filesystem::path& path,  // checkpoints/collectives.json
                                WorkerRules rules = WorkerRules::scaled);

  const std::vector<CollectiveModel>& models() const { return models_; }
  // all_reduce on an unmeasured worker count: scaled by 2(n-1)/n from the nearest measured one (the
  // larger on ties); on one worker 0 us with a fact. send_recv always has two ends; `workers`, the
  // size of the tensor-parallel group, is then not used. No data for the GPU: bandwidth model from
  // its interconnect. Throws DataError for another collective, bytes <= 0 or workers < 1.
  // An all_reduce of at most `custom_max_bytes` runs on the engine's own kernel where there is data
  // of the GPU or of one of the same architecture and link; over PCIe on the faster of the two.
  CollectiveEstimate estimate(const HardwareSpec& hardware, std::string_view collective,
                              std::int64_t bytes, std::int64_t workers,
                              std::int64_t custom_max_bytes = 0) const;

 private:
  CollectiveEstimate all_reduce(const HardwareSpec& hardware, std::int64_t bytes,
                                std::int64_t workers, std::int64_t custom_max_bytes) const;

  std::vector<CollectiveModel> models_;
  WorkerRules rules_ = WorkerRules::scaled;
};

// Bytes that each rank of a ring all-reduce sends, as a multiple of the message: 2(n-1)/n.
double all_reduce_traffic(std::int64_t workers);

// Duration from the nominal rate of the link alone: formulas, constants and where they come from in
// docs/method.md "Collectives". The fact names the link. workers >= 2 for all_reduce.
CollectiveEstimate bandwidth_model(const HardwareSpec& hardware, std::string_view collective,
                                   std::int64_t bytes, std::int64_t workers);

// Throws DataError that lists the known names for another collective than CollectiveModel knows.
void check_collective(std::string_view collective);

// Reads a profiled CSV: size (bytes), num_workers, time_stats.<collective>.<statistic>
// (milliseconds). Throws DataError with the line for a row that is no measurement, and when there
// is no row.
std::vector<CollectiveSample> read_collective_samples(
    const std::filesystem::path& path, std::string_view collective,
    CallStatistic statistic = CallStatistic::median);

// Reads durations of one collective on several GPUs: hardware, num_workers, size (bytes),
// avg_duration_us. By hardware as in the file.
std::map<std::string, std::vector<CollectiveSample>> read_collective_table(
    const std::filesystem::path& path);

// One line per model and per curve, sorted, so that a refit shows as a readable difference.
std::string collectives_json(const std::vector<CollectiveModel>& models);

}  // namespace pw
