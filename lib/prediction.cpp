#include "pw/prediction.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "prediction_bands.h"

namespace pw {
namespace {

void tell_memory(Prediction& prediction) {
  if (prediction.fits()) return;
  const std::int64_t needed = prediction.memory.weight_bytes + prediction.memory.kv_cache_bytes;
  const std::int64_t capacity = prediction.hardware.global_memory_bytes;
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << "memory: weights and KV cache need "
       << static_cast<double>(needed) * 1e-9 << " GB per GPU, " << prediction.hardware.name
       << " has " << static_cast<double>(capacity) * 1e-9
       << " GB: the workload does not fit, use more GPUs (tp, pp) or a smaller batch";
  prediction.facts.add({FactKind::does_not_fit,
                        text.str(),
                        {{"needed_bytes", needed}, {"capacity_bytes", capacity}}});
}

// All but the times.
Prediction frame_of(const Workload& workload, const HardwareSpec& hardware,
                    const std::optional<EngineProfile>& engine) {
  Prediction result;
  result.hardware = hardware;
  result.model = workload.model.architecture;
  result.config = workload.model.stem;
  result.trace = workload.trace;
  result.workload = workload.stem;
  result.tp_size = workload.tp_size;
  result.pp_size = workload.pp_size;
  try {
    result.memory = memory_footprint(workload);
  } catch (const std::overflow_error&) {
    throw DataError("workload " + workload.stem +
                    ": weights or KV cache exceed 2^63 bytes, expected realistic dimensions");
  }
  result.engine = engine ? engine->name : "";
  result.engine_version = engine ? engine->version : "";
  result.facts = workload.facts;
  tell_memory(result);
  return result;
}

void count_tokens(const Step& step, Prediction& result) {
  if (step.phase == Phase::prefill) {
    result.requests += step.batch.requests();
    for (const std::int64_t tokens : step.batch.q_lengths) result.prompt_tokens += tokens;
  }
  result.output_tokens += step.batch.requests();  // every request gets one token per step
}

}  // namespace

void PredictionSummary::add(Phase phase, double iteration_us) {
  total_us += iteration_us;
  if (phase == Phase::prefill) {
    prefill_us += iteration_us;
    return;
  }
  decode_total_us += iteration_us;
  ++decode_steps;
  decode_average_us = decode_total_us / static_cast<double>(decode_steps);
}

bool Prediction::fits() const { return pw::fits(memory, hardware.global_memory_bytes); }

std::vector<OperatorSum> operator_sums(const Prediction& prediction) {
  std::vector<OperatorSum> sums;
  for (const IterationTime& iteration : prediction.iterations) {
    for (const OperatorTime& time : iteration.operators) {
      auto sum = std::find_if(sums.begin(), sums.end(), [&](const OperatorSum& s) {
        return s.group == time.group && s.name == time.name;
      });
      if (sum == sums.end()) {
        sum = sums.insert(sums.end(), OperatorSum{time.group, time.name, 0, 0});
      }
      (iteration.phase == Phase::prefill ? sum->prefill_us : sum->decode_us) += time.total_us();
    }
  }
  return sums;
}

std::vector<Prediction> predict_workload(const Workload& workload, const OperatorTimer& operators,
                                         const CollectiveCatalog& collectives,
                                         const std::optional<EngineProfile>& engine) {
  StepTimer timer(operators, collectives,
                  {workload.model, workload.tp_size, workload.pp_size, engine});
  const TimedSteps timed = timer.time(workload.steps);
  std::vector<Prediction> predictions;
  for (std::size_t gpu = 0; gpu < operators.gpus().size(); ++gpu) {
    if (!timed.problem(gpu).empty()) throw DataError(timed.problem(gpu));
    const OperatorPredictor& predictor = operators.gpus()[gpu];
    Prediction result = frame_of(workload, predictor.hardware(), engine);
    BandSum bands;
    for (std::size_t i = 0; i < workload.steps.size(); ++i) {
      const Step& step = workload.steps[i];
      StepTime time = timed.time(gpu, i);
      for (const OperatorTime& operation : time.operators) {
        bands.add(step.phase, operation.source, operation.errors, operation.total_us());
      }
      count_tokens(step, result);
      result.summary.add(step.phase, time.total_us);
      result.iterations.push_back(
          {step.number, step.phase, std::move(time.operators), time.total_us});
    }
    result.facts.add(timed.facts(gpu));
    if (!predictor.models().empty()) {
      result.bands = bands.bands(result.summary.decode_steps);
      result.facts.add(describe(*result.bands));
    }
    predictions.push_back(std::move(result));
  }
  return predictions;
}

Prediction predict_workload(const Workload& workload, const OperatorPredictor& predictor,
                            const CollectiveCatalog& collectives,
                            const std::optional<EngineProfile>& engine) {
  const OperatorTimer operators({predictor});
  return std::move(predict_workload(workload, operators, collectives, engine).front());
}

}  // namespace pw
