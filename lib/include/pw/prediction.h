#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pw/hardware_spec.h"
#include "pw/memory_footprint.h"
#include "pw/step_timer.h"
#include "pw/workload.h"

namespace pw {

struct IterationTime {
  std::int64_t number = 0;
  Phase phase = Phase::prefill;
  std::vector<OperatorTime> operators;
  double total_us = 0;  // plain sum in the order of `operators`
};

struct PredictionSummary {
  double prefill_us = 0;         // sum over prefill iterations
  double decode_average_us = 0;  // mean over decode iterations, 0 without any
  double decode_total_us = 0;
  double total_us = 0;
  std::int64_t decode_steps = 0;

  // The next iteration.
  void add(Phase phase, double iteration_us);
};

// What is counted in each phase, decode over all steps.
struct PhaseTimes {
  double prefill = 0, decode = 0;
};

// Times whose errors come from one source: a model ("gemm", "attn_paged") or a collective.
struct BandPart {
  std::string source;
  PhaseTimes predicted_us;
  PhaseTimes p10_us, p50_us, p90_us;  // as measured, by the source's held-out errors
};

// Where the middle 80 % of measured times are to be expected, by docs/method.md section 8. A band
// is absent where more than a quarter of the phase's time has no held-out errors.
struct PredictionBands {
  std::optional<TimeBand> prefill, decode_step, total;
  std::vector<BandPart> parts;
  std::vector<std::string> without_errors;  // operators that count as predicted
  PhaseTimes share_without_errors;          // of the phase's time, 0 to 1
  double total_share_without_errors = 0;
};

// How long a workload takes on one GPU (per rank, all pipeline stages one after the other).
struct Prediction {
  HardwareSpec hardware;
  std::string model;     // as in the workload: "Qwen2ForCausalLM"
  std::string config;    // model stem, "Qwen2.5-14B"; empty when the workload does not tell
  std::string trace;     // trace stem; empty when unknown
  std::string workload;  // workload stem
  std::int64_t tp_size = 1;
  std::int64_t pp_size = 1;
  std::int64_t requests = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;  // of all requests, the first token of each included
  std::vector<IterationTime> iterations;
  PredictionSummary summary;
  std::optional<PredictionBands> bands;  // absent for predictions without any model
  MemoryFootprint memory;
  Facts facts;
  std::string engine;  // the serving engine; empty when its share is not counted
  std::string engine_version;
  std::vector<std::pair<std::string, std::string>> provenance;  // what made this result

  // Whether weights and KV cache fit the GPU's memory; true when that is not known.
  bool fits() const;
};

// One operator over all iterations.
struct OperatorSum {
  OperatorGroup group = OperatorGroup::gemm;
  std::string name;
  double prefill_us = 0;
  double decode_us = 0;  // all steps
  double total_us() const { return prefill_us + decode_us; }
};
// In order of first appearance.
std::vector<OperatorSum> operator_sums(const Prediction& prediction);

// The sum over the steps of a workload on each GPU of `operators`, in their order. Without an
// engine it is that of the original: the model's kernels and collectives alone. Throws DataError
// for an operator without a model.
std::vector<Prediction> predict_workload(const Workload& workload, const OperatorTimer& operators,
                                         const CollectiveCatalog& collectives,
                                         const std::optional<EngineProfile>& engine = std::nullopt);
// The same on one GPU.
Prediction predict_workload(const Workload& workload, const OperatorPredictor& predictor,
                            const CollectiveCatalog& collectives,
                            const std::optional<EngineProfile>& engine = std::nullopt);

enum class PredictionDetail {
  published,   // the keys of the original alone
  iterations,  // and `case`, `memory`, `facts`, `provenance`
  summary,     // the same with `operators` (sums over all iterations) in place of `iterations`
};
// Keys of the original first and in its order, milliseconds rounded to 6 decimals.
std::string prediction_json(const Prediction& prediction, PredictionDetail detail);
// For a terminal: phases, tokens per second, memory, a table of operators with shares, facts.
std::string prediction_text(const Prediction& prediction);
// "<workload stem>_<GPU stem, spaces as _>.json"
std::string prediction_file_name(const Prediction& prediction);

}  // namespace pw
