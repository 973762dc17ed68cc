#include "pw/prediction.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

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
    const auto add = [&](OperatorGroup group, const std::string& name, const auto& entry) {
      Planned summand;
      summand.time.group = group;
      summand.time.name = name;
      summand.time.count = entry.count;
      summand.distinct = distinct.index(entry.config);
      planned.push_back(std::move(summand));
    };
    for (const GemmEntry& entry : iteration.gemms) {
      add(OperatorGroup::gemm, entry.name, entry);
    }
    for (const AttentionEntry& entry : iteration.attention) {
      add(OperatorGroup::attention, "attention", entry);
    }
    for (const RmsNormEntry& entry : iteration.rmsnorm) {
      add(OperatorGroup::rmsnorm, "rmsnorm", entry);
    }
    for (const SiluMulEntry& entry : iteration.silu_mul) {
      add(OperatorGroup::siluandmul, "siluandmul", entry);
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
  std::string unseen;
  bool gemm = false;
  for (const OperatorFamily& family : operator_families()) {
    const auto is_of_family = [&](const OperatorConfig& c) {
      return operator_family(c).name == family.name;
    };
    if (std::any_of(configs.begin(), configs.end(), [&](const OperatorConfig& c) {
          return is_of_family(c) && predictor.is_unseen_gpu(c);
        })) {
      unseen += (unseen.empty() ? "" : ", ") + std::string(family.name);
    }
    gemm = gemm || (family.name == GemmConfig::kName &&
                    std::any_of(configs.begin(), configs.end(), is_of_family));
  }
  if (!unseen.empty()) {
    notes.add(unseen + ": trained without " + predictor.hardware().name +
              ", the models transfer from other GPUs");
  }
  const std::optional<std::string> lender = predictor.tile_lender();
  if (gemm && lender) {
    notes.add("gemm: tiles are those of the GEMM table's rows of " + *lender);
  }
}

// A kernel that engines do not run on this GPU.
void note_foreign_kernel(const Workload& workload, const HardwareSpec& hardware, Notes& notes) {
  const AttentionKernel native =
      hardware.architecture == Architecture::hopper ? AttentionKernel::fa3 : AttentionKernel::fa2;
  for (const Iteration& iteration : workload.iterations) {
    for (const AttentionEntry& entry : iteration.attention) {
      const AttentionKernel kernel = entry.config.kernel;
      if (kernel != AttentionKernel::automatic && kernel != native) {
        notes.add("attention: the workload asks for " +
                  attention_type(kernel, entry.config.layout) + " in " +
                  std::string(to_string(iteration.phase)) + ", engines run " +
                  attention_type(native, entry.config.layout) + " on " + hardware.name);
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
    notes.add("memory: weights and KV cache need " +
              std::to_string(memory.weight_bytes + memory.kv_cache_bytes) + " bytes per GPU, " +
              prediction.hardware.name + " has " +
              std::to_string(prediction.hardware.global_memory_bytes) +
              ": the workload does not fit, use more GPUs (tp, pp) or a smaller batch");
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
  }
  return "";
}

bool Prediction::fits() const {
  return hardware.global_memory_bytes == 0 ||
         memory.weight_bytes + memory.kv_cache_bytes <= hardware.global_memory_bytes;
}

Prediction predict_workload(const Workload& workload, const OperatorPredictor& predictor,
                            const CollectiveCatalog& collectives) {
  const HardwareSpec& hardware = predictor.hardware();
  Prediction result;
  result.hardware = hardware;
  result.model = workload.model.architecture;
  result.config = workload.model.stem;
  result.trace = workload.trace;
  result.workload = workload.stem;
  result.tp_size = workload.tp_size;
  result.pp_size = workload.pp_size;
  result.memory = memory_footprint(workload);

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
      const CollectiveEstimate estimate = collectives.estimate(
          hardware, collective_of(entry.name, entry.type), entry.volume_bytes, workload.tp_size);
      notes.add(estimate.note);
      time.operators.push_back(
          {OperatorGroup::communication, entry.name, estimate.duration_us, entry.count});
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
