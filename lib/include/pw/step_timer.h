#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pw/collective.h"
#include "pw/engine_profile.h"
#include "pw/fact.h"
#include "pw/operator_predictor.h"
#include "pw/step.h"

namespace pw {

class DistinctOperators;
class OperatorCache;
struct OperatorTimeOnGpu;
struct TimedBody;

using FactKinds = std::bitset<kFactKinds>;
// By operator, then by GPU.
using TimesOfOperators = std::vector<std::shared_ptr<const std::vector<OperatorTimeOnGpu>>>;

// Durations of single operators on some GPUs. What was asked for lately is remembered, so that
// equal operators of different steps and workloads are computed once. For several threads.
class OperatorTimer {
 public:
  static constexpr std::size_t kCacheBytes = std::size_t{64} << 20;

  // At least one GPU; the predictors have the same models and options.
  explicit OperatorTimer(std::vector<OperatorPredictor> gpus,
                         std::size_t cache_bytes = kCacheBytes);
  ~OperatorTimer();
  OperatorTimer(OperatorTimer&&) noexcept;
  OperatorTimer& operator=(OperatorTimer&&) noexcept;

  const std::vector<OperatorPredictor>& gpus() const { return gpus_; }

  // Operator predictions so far, each of another operator or GPU unless the cache had forgotten it.
  std::uint64_t operator_predictions() const { return *operator_predictions_; }

 private:
  friend class StepTimer;

  // By operator, then by GPU. `problems`, by GPU: why it has no times; empty where it has.
  TimesOfOperators times_of(const DistinctOperators& operators,
                            std::vector<std::string>& problems) const;
  std::vector<std::vector<OperatorPrediction>> predict(const std::vector<OperatorConfig>& configs,
                                                       std::vector<std::string>& problems) const;

  std::vector<OperatorPredictor> gpus_;
  std::unique_ptr<OperatorCache> cache_;
  std::unique_ptr<std::atomic<std::uint64_t>> operator_predictions_;
};

// What runs the steps: a model over some GPUs, under a serving engine.
struct Deployment {
  ModelConfig model;
  std::int64_t tp_size = 1;
  std::int64_t pp_size = 1;
  // Absent: the model's kernels and collectives alone, the sum of the original.
  std::optional<EngineProfile> engine;
};

// A line of a step's sum.
struct OperatorTime {
  OperatorGroup group = OperatorGroup::gemm;
  std::string name;        // "qkv_proj"; for attention, rmsnorm, siluandmul the group's name
  double single_us = 0;    // one call
  std::int64_t count = 0;  // calls per step
  // Held-out errors and whose they are, a model's ("gemm") or a collective's; without a model the
  // operator's own name.
  std::string source;
  std::optional<ErrorBand> errors;

  double total_us() const { return single_us * static_cast<double>(count); }
};

struct StepTime {
  std::vector<OperatorTime> operators;  // in the order of OperatorGroup
  double total_us = 0;                  // their plain sum in that order
};

// Times of some steps on each GPU of a timer.
class TimedSteps {
 public:
  // Why a GPU has no times; empty where it has.
  const std::string& problem(std::size_t gpu) const { return problems_[gpu]; }
  // Of step number `step` of those that were timed.
  double total_us(std::size_t gpu, std::size_t step) const;
  StepTime time(std::size_t gpu, std::size_t step) const;

  // What is to know about them on a GPU, in words or by kind alone.
  Facts facts(std::size_t gpu) const;
  FactKinds fact_kinds(std::size_t gpu) const;

 private:
  friend class StepTimer;
  struct TimedStep {
    const Step* step = nullptr;
    std::shared_ptr<const TimedBody> body;
    std::vector<std::size_t> attention;  // places among the distinct operators
  };
  template <class Tell>
  void tell_facts(std::size_t gpu, const Tell& tell) const;

  const OperatorTimer* operators_ = nullptr;
  std::shared_ptr<const DistinctOperators> distinct_;
  TimesOfOperators times_;
  std::vector<TimedStep> steps_;
  std::vector<std::string> problems_;
};

// THE sum of a step: its operators, transfers and what the engine adds. Workload predictions,
// sweeps, the C library and schedulers add up what it gives. One object for each thread.
class StepTimer {
 public:
  // `operators` and `collectives` must outlive it and what it gives.
  StepTimer(const OperatorTimer& operators, const CollectiveCatalog& collectives,
            Deployment deployment);
  ~StepTimer();

  const Deployment& deployment() const { return deployment_; }

  // All at once, so that networks see many operators in one pass. The steps must outlive the
  // result. Throws DataError and std::overflow_error for a step that makes no sense; what a GPU
  // cannot run is that GPU's problem().
  TimedSteps time(const std::vector<Step>& steps);
  // A single step; a GPU that cannot run it is a DataError.
  StepTime time(const Step& step, std::size_t gpu = 0);

 private:
  struct BodyCache;
  std::shared_ptr<const TimedBody> timed_body(const Step& step, const TimedSteps& block,
                                              DistinctOperators& distinct);

  const OperatorTimer& operators_;
  const CollectiveCatalog& collectives_;
  Deployment deployment_;
  std::unique_ptr<BodyCache> bodies_;
};

}  // namespace pw
