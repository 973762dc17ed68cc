#include "sweep_evaluator.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "workload_steps.h"

namespace pw {
namespace {

// Steps that are worked on at once: enough rows for the networks' products to run at full speed,
// few enough for their operators to stay in a cache; and a limit for large batches.
constexpr std::size_t kMostSteps = 512;
constexpr std::size_t kMostLengths = std::size_t{1} << 18;

void set(FactKinds& kinds, FactKind kind) { kinds.set(static_cast<std::size_t>(kind)); }

FactKinds kinds_of(const Facts& facts) {
  FactKinds kinds;
  for (const Fact& fact : facts) set(kinds, fact.kind);
  return kinds;
}

// Sums of one workload on all GPUs.
class WorkloadSums {
 public:
  explicit WorkloadSums(std::size_t gpus) : results_(gpus) {}

  void add(const std::vector<Step>& steps, StepTimer& timer) {
    const TimedSteps timed = timer.time(steps);
    for (const Step& step : steps) {
      const std::vector<std::int64_t>& contexts = step.batch.kv_lengths;
      longest_total_context_ =
          std::max(longest_total_context_,
                   std::accumulate(contexts.begin(), contexts.end(), std::int64_t{0}));
      output_tokens_ += step.batch.requests();
    }
    for (std::size_t gpu = 0; gpu < results_.size(); ++gpu) {
      SweepResult& result = results_[gpu];
      if (result.problem.empty()) result.problem = timed.problem(gpu);
      if (!result.problem.empty()) continue;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        result.summary.add(steps[i].phase, timed.total_us(gpu, i));
      }
      result.facts |= timed.fact_kinds(gpu);
    }
  }

  std::vector<SweepResult> take(const StepTimer& timer, const FactKinds& facts,
                                const std::vector<OperatorPredictor>& gpus) {
    const Deployment& deployment = timer.deployment();
    const MemoryFootprint memory = memory_footprint(deployment.model, deployment.tp_size,
                                                    deployment.pp_size, longest_total_context_);
    for (std::size_t gpu = 0; gpu < results_.size(); ++gpu) {
      SweepResult& result = results_[gpu];
      result.memory = memory;
      result.gpu_memory_bytes = gpus[gpu].hardware().global_memory_bytes;
      result.output_tokens = output_tokens_;
      result.facts |= facts;
      if (!fits(memory, result.gpu_memory_bytes)) set(result.facts, FactKind::does_not_fit);
    }
    return std::move(results_);
  }

 private:
  std::vector<SweepResult> results_;
  std::int64_t longest_total_context_ = 0;
  std::int64_t output_tokens_ = 0;
};

}  // namespace

SweepEvaluator::SweepEvaluator(std::vector<OperatorPredictor> gpus, CollectiveCatalog collectives,
                               std::optional<EngineProfile> engine, std::size_t cache_bytes)
    : operators_(std::move(gpus), cache_bytes),
      collectives_(std::move(collectives)),
      engine_(std::move(engine)) {}

std::vector<SweepResult> SweepEvaluator::evaluate(const ModelConfig& model, const Trace& trace,
                                                  const WorkloadOptions& options,
                                                  const std::atomic<bool>& stop) const {
  const auto impossible = [&](const std::exception& error) {
    SweepResult result;
    result.problem = error.what();
    return std::vector<SweepResult>(gpus().size(), result);
  };
  try {
    WorkloadSteps steps(model, trace, options);
    StepTimer timer(operators_, collectives_, {model, options.tp_size, options.pp_size, engine_});
    WorkloadSums sums(gpus().size());
    std::vector<Step> block;
    std::size_t lengths = 0;
    while (std::optional<Step> step = steps.next()) {
      lengths += step->batch.q_lengths.size();
      block.push_back(std::move(*step));
      if (block.size() == kMostSteps || lengths >= kMostLengths) {
        if (stop) return {};
        sums.add(block, timer);
        block.clear();
        lengths = 0;
      }
    }
    if (!block.empty()) sums.add(block, timer);
    return sums.take(timer, kinds_of(workload_facts(model, trace, steps.stages(), options)),
                     gpus());
  } catch (const DataError& error) {
    return impossible(error);
  } catch (const std::overflow_error& error) {  // see pw/int_math.h
    return impossible(error);
  }
}

}  // namespace pw
