#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pw/memory_footprint.h"
#include "pw/prediction.h"
#include "pw/step_timer.h"
#include "pw/trace.h"
#include "pw/workload.h"

namespace pw {

// A workload on a GPU.
struct SweepResult {
  std::string problem;  // why there is no prediction; empty with one
  PredictionSummary summary;
  std::int64_t output_tokens = 0;     // of all requests
  MemoryFootprint memory;             // per GPU
  std::int64_t gpu_memory_bytes = 0;  // 0: not known
  FactKinds facts;                    // those of a Prediction but error_band
};

// Predicts workloads on many GPUs at once: the same numbers as predict_workload, without the parts
// that tell where the time goes. Workloads are made, predicted and forgotten a few hundred steps at
// a time, and equal operators of all workloads are computed once as long as the cache remembers
// them: memory does not grow with the number of workloads. For several threads.
class SweepEvaluator {
 public:
  static constexpr std::size_t kCacheBytes = std::size_t{512} << 20;

  // At least one GPU; the predictors have the same models and options.
  SweepEvaluator(std::vector<OperatorPredictor> gpus, CollectiveCatalog collectives,
                 std::optional<EngineProfile> engine, std::size_t cache_bytes = kCacheBytes);

  const std::vector<OperatorPredictor>& gpus() const { return operators_.gpus(); }

  // One result per GPU. A workload that cannot be, such as a tp_size that does not divide the
  // model, is a result with a problem. Gives up when `stop` turns true; the results are then empty.
  std::vector<SweepResult> evaluate(const ModelConfig& model, const Trace& trace,
                                    const WorkloadOptions& options,
                                    const std::atomic<bool>& stop) const;

  std::uint64_t operator_predictions() const { return operators_.operator_predictions(); }

 private:
  OperatorTimer operators_;
  CollectiveCatalog collectives_;
  std::optional<EngineProfile> engine_;
};

}  // namespace pw
