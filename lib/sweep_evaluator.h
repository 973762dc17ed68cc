#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distinct_operators.h"
#include "operator_cache.h"
#include "pw/collective.h"
#include "pw/engine_profile.h"
#include "pw/memory_footprint.h"
#include "pw/operator_predictor.h"
#include "pw/prediction.h"
#include "pw/trace.h"
#include "pw/workload.h"

namespace pw {

// What to know about a prediction before trusting it, as the notes of a Prediction.
struct SweepFlags {
  bool extrapolated = false;          // operators outside the training range
  bool unseen_gpu = false;            // a model was trained without the GPU
  bool default_rates = false;         // sustained rates are not the file's
  bool borrowed_tiles = false;        // the GEMM table has no rows of the GPU
  bool foreign_kernel = false;        // an attention kernel that engines do not run on the GPU
  bool estimated_collective = false;  // collectives not measured like this
  bool quantile = false;              // a model gives a quantile, not the typical duration
};

// A workload on a GPU.
struct SweepResult {
  std::string problem;  // why there is no prediction; empty with one
  PredictionSummary summary;
  std::int64_t output_tokens = 0;     // of all requests
  MemoryFootprint memory;             // per GPU
  std::int64_t gpu_memory_bytes = 0;  // 0: not known
  SweepFlags flags;
};

// Predicts workloads on many GPUs at once: the same numbers as predict_workload, without the parts
// that tell where the time goes. Workloads are made, predicted and forgotten a few hundred
// iterations at a time, and equal operators of all workloads are computed once as long as the cache
// remembers them: memory does not grow with the number of workloads. For several threads.
class SweepEvaluator {
 public:
  static constexpr std::size_t kCacheBytes = std::size_t{512} << 20;

  // At least one GPU; the predictors have the same models and options.
  SweepEvaluator(std::vector<OperatorPredictor> gpus, CollectiveCatalog collectives,
                 std::optional<EngineProfile> engine, std::size_t cache_bytes = kCacheBytes);

  const std::vector<OperatorPredictor>& gpus() const { return gpus_; }

  // One result per GPU. A workload that cannot be, such as a tp_size that does not divide the
  // model, is a result with a problem. Gives up when `stop` turns true; the results are then empty.
  std::vector<SweepResult> evaluate(const ModelConfig& model, const Trace& trace,
                                    const WorkloadOptions& options,
                                    const std::atomic<bool>& stop) const;

  // Operator predictions so far, each of another operator or GPU unless the cache had forgotten it.
  std::uint64_t operator_predictions() const { return operator_predictions_; }

 private:
  class WorkloadSums;
  using TimesOfOperators = std::vector<std::shared_ptr<const OperatorTimes>>;

  // `problems`: by GPU.
  TimesOfOperators times_of(const DistinctOperators& operators,
                            std::vector<std::string>& problems) const;
  std::vector<std::vector<OperatorPrediction>> predict(const std::vector<OperatorConfig>& configs,
                                                       std::vector<std::string>& problems) const;

  std::vector<OperatorPredictor> gpus_;
  CollectiveCatalog collectives_;
  std::optional<EngineProfile> engine_;
  // By GPU: of every workload, and of decode steps.
  std::vector<SweepFlags> model_flags_, decode_flags_, fp8_flags_;
  mutable OperatorCache cache_;
  mutable std::atomic<std::uint64_t> operator_predictions_{0};
};

}  // namespace pw
