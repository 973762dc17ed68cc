#include "pw/prediction.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "comma_list.h"

namespace pw {
namespace {

// Distinct operators of a workload, each computed once.
class DistinctOperators {
 public:
  std::size_t index(const OperatorConfig& config) {
    const auto [entry, inserted] = index_.emplace(key(config), configs_.size());
    if (inserted) {
      configs_.push_back(config);
    }
    return entry->second;
  }
  const std::vector<OperatorConfig>& configs() const { return configs_; }

 private:
  // Everything that distinguishes two problems, as numbers.
  static std::vector<std::int64_t> key(const OperatorConfig& config) {
    std::vector<std::int64_t> numbers{static_cast<std::int64_t>(config.index())};
    std::visit([&](const auto& c) { append(numbers, c); }, config);
    return numbers;
  }
  static void append(std::vector<std::int64_t>& key, const GemmConfig& c) {
    key.insert(key.end(), {c.m, c.n, c.k});
    if (c.tile) {
      key.insert(key.end(), {c.tile->m, c.tile->n, c.tile->k, c.tile->cta_count, c.tile->split_k});
    }
  }
  static void append(std::vector<std::int64_t>& key, const Fp8GemmConfig& c) {
    key.insert(key.end(), {c.m, c.n, c.k, c.tile_m, c.tile_n, c.tile_k});
  }
  static void append(std::vector<std::int64_t>& key, const AttentionConfig& c) {
    key.insert(key.end(), {static_cast<std::int64_t>(c.kernel), static_cast<std::int64_t>(c.layout),
                           c.query_heads, c.kv_heads, c.head_dim, c.causal});
    key.insert(key.end(), c.q_lengths.begin(), c.q_lengths.end());
    key.insert(key.end(), c.kv_lengths.begin(), c.kv_lengths.end());
  }
  static void append(std::vector<std::int64_t>& key, const RmsNormConfig& c) {
    key.insert(key.end(), {c.seq, c.dim});
  }
  static void append(std::vector<std::int64_t>& key, const SiluMulConfig& c) {
    key.insert(key.end(), {c.seq, c.dim});
  }
  static void append(std::vector<std::int64_t>& key, const MoeConfig& c) {
    key.insert(key.end(), {static_cast<std::int64_t>(c.pass), c.tokens, c.experts, c.top_k,
                           c.hidden, c.intermediate});
  }

  std::map<std::vector<std::int64_t>, std::size_t> index_;
  std::vector<OperatorConfig> configs_;
};

// One summand of an iteration before its duration is known.
struct Planned {
  OperatorTime time;
  std::size_t distinct = 0;  // index into DistinctOperators, unless communication
};

std::vector<std::vector<Planned>> plan(const Workload& workload, DistinctOperators& distinct) {
  std::vector<std::vector<Planned>> iterations;
  for (const Iteration& iteration : workload.iterations) {
    std::vector<Planned> planned;
    const auto add = [&](OperatorGroup group, const std::string& name, const OperatorConfig& config,
                         std::int64_t count) {
      Planned summand;
      summand.time.group = group;
      summand.time.name = name;
      summand.time.count = count;
      summand.distinct = distinct.index(config);
      planned.push_back(std::move(summand));
    };
    for (const GemmEntry& entry : iteration.gemms) {
      add(OperatorGroup::gemm, entry.name, operator_of(entry), entry.count);
    }
    for (const AttentionEntry& entry : iteration.attention) {
      add(OperatorGroup::attention, "attention", entry.config, entry.count);
    }
    for (const RmsNormEntry& entry : iteration.rmsnorm) {
      add(OperatorGroup::rmsnorm, "rmsnorm", entry.config, entry.count);
    }
    for (const SiluMulEntry& entry : iteration.silu_mul) {
      add(OperatorGroup::siluandmul, "siluandmul", entry.config, entry.count);
    }
    iterations.push_back(std::move(planned));
  }
  return iterations;
}

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
    notes.add("gemm: sustained rates of " + predictor.hardware().name +
              " are defaults of its architecture, measure them with pw-train calibrate");
  }
  const std::optional<std::string> lender = predictor.tile_lender();
  if (gemm && lender) {
    notes.add("gemm: tiles are those of the GEMM table's rows of " + *lender);
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

PredictionSummary summarize(const std::vector<IterationTime>& iterations) {
  PredictionSummary summary;
  for (const IterationTime& iteration : iterations) {
    if (iteration.phase == Phase::prefill) {
      summary.prefill_us += iteration.total_us;
    } else {
      summary.decode_total_us += iteration.total_us;
      ++summary.decode_steps;
    }
    summary.total_us += iteration.total_us;
  }
  if (summary.decode_steps > 0) {
    summary.decode_average_us = summary.decode_total_us / static_cast<double>(summary.decode_steps);
  }
  return summary;
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

Prediction predict_workload(const Workload& workload, const OperatorPredictor& predictor,
                            const CollectiveCatalog& collectives,
                            const std::optional<EngineProfile>& engine) {
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

  DistinctOperators distinct;
  std::vector<std::vector<Planned>> planned = plan(workload, distinct);
  const std::vector<OperatorPrediction> predictions = predictor.predict(distinct.configs());

  Notes notes;
  for (const std::string& note : workload.notes) {
    notes.add(note);
  }
  note_memory(result, notes);
  note_foreign_kernel(workload, hardware, notes);
  note_models(distinct.configs(), predictor, notes);
  note_violations(distinct.configs(), predictions, notes);
  note_quantiles(distinct.configs(), predictor, notes);

  for (std::size_t i = 0; i < workload.iterations.size(); ++i) {
    const Iteration& iteration = workload.iterations[i];
    IterationTime time{iteration.number, iteration.phase, {}, 0};
    for (Planned& operation : planned[i]) {
      operation.time.single_us = predictions[operation.distinct].duration_us;
      time.operators.push_back(std::move(operation.time));
    }
    for (const CommunicationEntry& entry : iteration.communication) {
      const CollectiveEstimate estimate =
          collectives.estimate(hardware, collective_of(entry.name, entry.type), entry.volume_bytes,
                               workload.tp_size, engine ? engine->custom_all_reduce_max_bytes : 0);
      notes.add(estimate.note);
      time.operators.push_back(
          {OperatorGroup::communication, entry.name, estimate.duration_us, entry.count});
    }
    if (engine) {
      for (const EngineOperator& extra : engine_operators(workload, iteration, hardware, *engine)) {
        time.operators.push_back(
            {OperatorGroup::engine, std::string(extra.name), extra.single_us, extra.count});
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
    result.iterations.push_back(std::move(time));
  }
  result.summary = summarize(result.iterations);
  result.notes = notes.take();
  return result;
}

}  // namespace pw
