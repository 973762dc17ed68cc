#include "pw/prediction.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "comma_list.h"
#include "distinct_operators.h"
#include "prediction_bands.h"

namespace pw {
namespace {

class Notes {
 public:
  void add(const std::string& note) {
    if (!note.empty() && seen_.insert(note).second) {
      notes_.push_back(note);
    }
  }
  std::vector<std::string> take() { return std::move(notes_); }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> notes_;
};

// One note per family about shapes outside the training range, with the worst of them.
void note_violations(const std::vector<OperatorConfig>& configs,
                     const std::vector<OperatorPrediction>& predictions, Notes& notes) {
  struct Family {
    std::size_t shapes = 0, outside = 0, worst = 0;
  };
  std::map<std::string, Family> families;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    Family& family = families[std::string(operator_family(configs[i]).name)];
    ++family.shapes;
    if (!predictions[i].violation) {
      continue;
    }
    if (family.outside++ == 0 ||
        predictions[i].violation->distance > predictions[family.worst].violation->distance) {
      family.worst = i;
    }
  }
  for (const auto& [name, family] : families) {
    if (family.outside > 0) {
      notes.add(name + ": " + std::to_string(family.outside) + " of " +
                std::to_string(family.shapes) +
                " distinct shapes lie outside the training range, the furthest is " +
                describe(configs[family.worst]) + " (" +
                describe(*predictions[family.worst].violation) + ")");
    }
  }
}

// Models that tell a ceiling make every sum a lower limit.
void note_quantiles(const std::vector<OperatorConfig>& configs, const OperatorPredictor& predictor,
                    Notes& notes) {
  for (const OperatorConfig& config : configs) {
    if (const std::optional<double> quantile = predictor.output_quantile(config)) {
      notes.add(std::string(operator_family(config).name) + ": predicted " +
                describe_quantile(*quantile) + ", not the typical duration");
    }
  }
}

// What holds for every shape: GPUs that models have not seen, borrowed tiles.
void note_models(const std::vector<OperatorConfig>& configs, const OperatorPredictor& predictor,
                 Notes& notes) {
  std::vector<std::string> unseen;
  bool gemm = false;
  for (const OperatorConfig& config : configs) {
    gemm = gemm || std::holds_alternative<GemmConfig>(config);
    if (predictor.is_unseen_gpu(config)) {
      const std::string name = predictor.model_name(config);
      if (std::find(unseen.begin(), unseen.end(), name) == unseen.end()) {
        unseen.push_back(name);
      }
    }
  }
  if (!unseen.empty()) {
    notes.add(comma_list(unseen) + ": trained without " + predictor.hardware().name +
              ", the models transfer from other GPUs");
  }
  if (gemm && sustained_fractions(predictor.hardware()).is_default) {
    notes.add(
        "gemm: sustained rates of " + predictor.hardware().name +
        " are defaults of its architecture and power class, measure them with pw-train calibrate");
  }
  const std::optional<std::string> lender = predictor.tile_lender();
  if (gemm && lender) {
    notes.add("gemm: tiles are those of the GEMM table's rows of " + *lender);
  }
}

// Models of kernels that pw-profile ran through LibTorch, which engines mostly replace by others.
void note_profiled_kernels(const std::vector<OperatorConfig>& configs,
                           const OperatorPredictor& predictor, Notes& notes) {
  for (const OperatorConfig& config : configs) {
    const auto found = predictor.models().find(predictor.model_name(config));
    if (found == predictor.models().end()) {
      continue;
    }
    for (const auto& [option, value] : found->second.model->record().training) {
      if (option == "kernel_source" && value.find("LibTorch") != std::string::npos) {
        notes.add(found->first + ": fitted on kernels of " + value +
                  ", a serving engine may run others");
      }
    }
  }
}

// A kernel that engines do not run on this GPU.
void note_foreign_kernel(const Workload& workload, const HardwareSpec& hardware, Notes& notes) {
  for (const Iteration& iteration : workload.iterations) {
    for (const AttentionEntry& entry : iteration.attention) {
      const AttentionKernel kernel = entry.config.kernel;
      if (!runs_on(kernel, hardware)) {
        notes.add("attention: the workload asks for " +
                  attention_type(kernel, entry.config.layout) + " in " +
                  std::string(to_string(iteration.phase)) + ", engines run " +
                  attention_type(automatic_kernel(hardware), entry.config.layout) + " on " +
                  hardware.name);
      }
    }
  }
}

void note_memory(const Prediction& prediction, Notes& notes) {
  if (!prediction.fits()) {
    const MemoryFootprint& memory = prediction.memory;
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "memory: weights and KV cache need "
         << static_cast<double>(memory.weight_bytes + memory.kv_cache_bytes) * 1e-9
         << " GB per GPU, " << prediction.hardware.name << " has "
         << static_cast<double>(prediction.hardware.global_memory_bytes) * 1e-9
         << " GB: the workload does not fit, use more GPUs (tp, pp) or a smaller batch";
    notes.add(text.str());
  }
}

}  // namespace

std::string_view to_string(OperatorGroup group) {
  switch (group) {
    case OperatorGroup::gemm:
      return "gemm";
    case OperatorGroup::attention:
      return "attention";
    case OperatorGroup::rmsnorm:
      return "rmsnorm";
    case OperatorGroup::siluandmul:
      return "siluandmul";
    case OperatorGroup::communication:
      return "communication";
    case OperatorGroup::engine:
      return "engine";
  }
  return "";
}

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

bool Prediction::fits() const {
  return hardware.global_memory_bytes == 0 ||
         memory.weight_bytes + memory.kv_cache_bytes <= hardware.global_memory_bytes;
}

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

struct WorkloadPlan::Operators {
  // One summand of an iteration.
  struct Summand {
    OperatorGroup group = OperatorGroup::gemm;
    const std::string* name = nullptr;
    std::int64_t count = 0;
    std::size_t distinct = 0;  // index into the distinct operators
  };
  DistinctOperators distinct;
  std::vector<std::vector<Summand>> iterations;

  void add(const Iteration& iteration) {
    static const std::string kAttention = "attention", kRmsNorm = "rmsnorm",
                             kSiluMul = "siluandmul";
    std::vector<Summand>& summands = iterations.emplace_back();
    const auto append = [&](OperatorGroup group, const std::string& name, const auto& entry) {
      summands.push_back({group, &name, entry.count, distinct.index(entry.config)});
    };
    for (const GemmEntry& entry : iteration.gemms) {
      summands.push_back(
          {OperatorGroup::gemm, &entry.name, entry.count, distinct.index(operator_of(entry))});
    }
    for (const AttentionEntry& entry : iteration.attention) {
      append(OperatorGroup::attention, kAttention, entry);
    }
    for (const RmsNormEntry& entry : iteration.rmsnorm) {
      append(OperatorGroup::rmsnorm, kRmsNorm, entry);
    }
    for (const SiluMulEntry& entry : iteration.silu_mul) {
      append(OperatorGroup::siluandmul, kSiluMul, entry);
    }
  }
};

WorkloadPlan::WorkloadPlan(const Workload& workload) : workload_(&workload) {
  auto operators = std::make_unique<Operators>();
  for (const Iteration& iteration : workload.iterations) operators->add(iteration);
  operators_ = std::move(operators);
}

WorkloadPlan::~WorkloadPlan() = default;
WorkloadPlan::WorkloadPlan(WorkloadPlan&&) noexcept = default;
WorkloadPlan& WorkloadPlan::operator=(WorkloadPlan&&) noexcept = default;

Prediction WorkloadPlan::predict(const OperatorPredictor& predictor,
                                 const CollectiveCatalog& collectives,
                                 const std::optional<EngineProfile>& engine) const {
  const Workload& workload = *workload_;
  const HardwareSpec& hardware = predictor.hardware();
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

  const std::vector<OperatorConfig>& configs = operators_->distinct.configs();
  const std::vector<OperatorPrediction> predictions = predictor.predict(configs);

  Notes notes;
  for (const std::string& note : workload.notes) {
    notes.add(note);
  }
  note_memory(result, notes);
  note_foreign_kernel(workload, hardware, notes);
  note_models(configs, predictor, notes);
  note_profiled_kernels(configs, predictor, notes);
  note_violations(configs, predictions, notes);
  note_quantiles(configs, predictor, notes);

  std::vector<std::string> models;  // that answer for the configs; empty without one
  for (const OperatorConfig& config : configs) {
    models.push_back(predictor.model_name(config));
  }
  BandSum bands;
  for (std::size_t i = 0; i < workload.iterations.size(); ++i) {
    const Iteration& iteration = workload.iterations[i];
    IterationTime time{iteration.number, iteration.phase, {}, 0};
    for (const Operators::Summand& summand : operators_->iterations[i]) {
      time.operators.push_back(
          {summand.group, *summand.name, predictions[summand.distinct].duration_us, summand.count});
      const std::string& model = models[summand.distinct];
      bands.add(iteration.phase, model.empty() ? *summand.name : model,
                predictions[summand.distinct].errors, time.operators.back().total_us());
    }
    for (const CommunicationEntry& entry : iteration.communication) {
      const CollectiveEstimate estimate =
          collectives.estimate(hardware, collective_of(entry.name, entry.type), entry.volume_bytes,
                               workload.tp_size, engine ? engine->custom_all_reduce_max_bytes : 0);
      notes.add(estimate.note);
      time.operators.push_back(
          {OperatorGroup::communication, entry.name, estimate.duration_us, entry.count});
      bands.add(iteration.phase, entry.name, estimate.errors, time.operators.back().total_us());
    }
    if (engine) {
      for (const EngineOperator& extra : engine_operators(workload, iteration, hardware, *engine)) {
        time.operators.push_back(
            {OperatorGroup::engine, std::string(extra.name), extra.single_us, extra.count});
        bands.add(iteration.phase, time.operators.back().name, std::nullopt,
                  time.operators.back().total_us());
      }
    }
    for (const OperatorTime& operation : time.operators) {
      time.total_us += operation.total_us();
    }
    if (iteration.phase == Phase::prefill) {
      result.requests += static_cast<std::int64_t>(iteration.q_lengths.size());
      for (const std::int64_t tokens : iteration.q_lengths) {
        result.prompt_tokens += tokens;
      }
    }
    // Every request in the batch gets one token per iteration.
    result.output_tokens += static_cast<std::int64_t>(iteration.q_lengths.size());
    result.summary.add(time.phase, time.total_us);
    result.iterations.push_back(std::move(time));
  }
  if (!predictor.models().empty()) {
    result.bands = bands.bands(result.summary.decode_steps);
    notes.add(describe(*result.bands));
  }
  result.notes = notes.take();
  return result;
}

Prediction predict_workload(const Workload& workload, const OperatorPredictor& predictor,
                            const CollectiveCatalog& collectives,
                            const std::optional<EngineProfile>& engine) {
  return WorkloadPlan(workload).predict(predictor, collectives, engine);
}

}  // namespace pw
