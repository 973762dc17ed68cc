#include "sweep_evaluator.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "workload_steps.h"

namespace pw {
namespace {

// Iterations that are worked on at once: enough rows for the networks' products to run at full
// speed, few enough for their operators to stay in a cache; and a limit for large batches.
constexpr std::size_t kMostIterations = 512;
constexpr std::size_t kMostLengths = std::size_t{1} << 18;

// Flags that hold for every problem of these kinds of operators.
SweepFlags flags_of(const OperatorPredictor& gpu, const std::vector<OperatorConfig>& kinds) {
  SweepFlags flags;
  for (const OperatorConfig& kind : kinds) {
    flags.unseen_gpu = flags.unseen_gpu || gpu.is_unseen_gpu(kind);
    flags.quantile = flags.quantile || gpu.output_quantile(kind).has_value();
  }
  flags.default_rates = sustained_fractions(gpu.hardware()).is_default;
  flags.borrowed_tiles = gpu.tile_lender().has_value();
  return flags;
}

AttentionConfig with_layout(KvLayout layout) {
  AttentionConfig attention;
  attention.layout = layout;
  return attention;
}

}  // namespace

// One workload on all GPUs, an iteration after the other.
class SweepEvaluator::WorkloadSums {
 public:
  WorkloadSums(const SweepEvaluator& evaluator, const ModelConfig& model,
               const WorkloadOptions& options)
      : evaluator_(evaluator), results_(evaluator.gpus_.size()), problems_(evaluator.gpus_.size()) {
    frame_.model = model;
    frame_.tp_size = options.tp_size;
    frame_.pp_size = options.pp_size;
  }

  // The next iterations as WorkloadSteps gives them, what repeats left out.
  void add(std::vector<Iteration> iterations) {
    if (groups_.size() > 1) groups_.erase(groups_.begin(), groups_.end() - 1);
    DistinctOperators operators;
    std::vector<Step> steps;
    steps.reserve(iterations.size());
    for (Iteration& iteration : iterations) {
      count_tokens(iteration);
      if (!iteration.gemms.empty()) groups_.push_back(group_of(iteration, operators));
      AttentionEntry& attention = iteration.attention.front();
      steps.push_back(
          {groups_.size() - 1, {operators.index(std::move(attention.config)), attention.count}});
    }
    const TimesOfOperators times = evaluator_.times_of(operators, problems_);
    for (std::size_t gpu = 0; gpu < results_.size(); ++gpu) {
      if (problems_[gpu].empty()) add_on(gpu, steps, times);
    }
  }

  std::vector<SweepResult> take() {
    const MemoryFootprint memory =
        memory_footprint(frame_.model, frame_.tp_size, frame_.pp_size, longest_total_context_);
    for (std::size_t gpu = 0; gpu < results_.size(); ++gpu) {
      SweepResult& result = results_[gpu];
      result.problem = std::move(problems_[gpu]);
      result.memory = memory;
      result.gpu_memory_bytes = evaluator_.gpus_[gpu].hardware().global_memory_bytes;
      result.output_tokens = output_tokens_;
    }
    return std::move(results_);
  }

 private:
  struct Summand {
    std::size_t operation = 0;  // of the distinct operators
    std::int64_t count = 0;     // calls per iteration
  };
  // The durations of a group's operators on one GPU, those before and behind attention.
  struct GroupTimes {
    double before_us = 0;           // their sum
    std::vector<double> behind_us;  // each, because sums are made in the order of a Prediction
  };
  // What consecutive iterations share that differ in attention alone.
  struct Group {
    Iteration example;
    std::vector<Summand> before_attention, behind_attention;
    std::vector<std::optional<GroupTimes>> times;  // by GPU; empty until they are asked for
  };
  struct Step {
    std::size_t group = 0;
    Summand attention;
  };

  void count_tokens(const Iteration& iteration) {
    longest_total_context_ = std::max(
        longest_total_context_,
        std::accumulate(iteration.kv_lengths.begin(), iteration.kv_lengths.end(), std::int64_t{0}));
    output_tokens_ += static_cast<std::int64_t>(iteration.q_lengths.size());
  }

  Group group_of(const Iteration& iteration, DistinctOperators& operators) const {
    Group group;
    group.example = iteration;
    group.times.resize(results_.size());
    const auto append = [&](std::vector<Summand>& summands, const auto& entries) {
      for (const auto& entry : entries) {
        summands.push_back({operators.index(entry.config), entry.count});
      }
    };
    for (const GemmEntry& entry : iteration.gemms) {
      group.before_attention.push_back({operators.index(operator_of(entry)), entry.count});
    }
    append(group.behind_attention, iteration.rmsnorm);
    append(group.behind_attention, iteration.silu_mul);
    return group;
  }

  static double total_us(const Summand& summand, const TimesOfOperators& times, std::size_t gpu,
                         SweepFlags& flags) {
    const OperatorTimeOnGpu& time = (*times[summand.operation])[gpu];
    flags.extrapolated = flags.extrapolated || time.extrapolated;
    return time.duration_us * static_cast<double>(summand.count);
  }

  GroupTimes times_on(std::size_t gpu, const Group& group, const TimesOfOperators& times) {
    SweepFlags& flags = results_[gpu].flags;
    GroupTimes result;
    for (const Summand& summand : group.before_attention) {
      result.before_us += total_us(summand, times, gpu, flags);
    }
    for (const Summand& summand : group.behind_attention) {
      result.behind_us.push_back(total_us(summand, times, gpu, flags));
    }
    const HardwareSpec& hardware = evaluator_.gpus_[gpu].hardware();
    const std::optional<EngineProfile>& engine = evaluator_.engine_;
    for (const CommunicationEntry& entry : group.example.communication) {
      const CollectiveEstimate estimate = evaluator_.collectives_.estimate(
          hardware, collective_of(entry.name, entry.type), entry.volume_bytes, frame_.tp_size,
          engine ? engine->custom_all_reduce_max_bytes : 0);
      flags.estimated_collective = flags.estimated_collective || !estimate.note.empty();
      result.behind_us.push_back(estimate.duration_us * static_cast<double>(entry.count));
    }
    if (engine) {
      for (const EngineOperator& extra :
           engine_operators(frame_, group.example, hardware, *engine)) {
        result.behind_us.push_back(extra.single_us * static_cast<double>(extra.count));
      }
    }
    for (const AttentionEntry& entry : group.example.attention) {
      flags.foreign_kernel = flags.foreign_kernel || !runs_on(entry.config.kernel, hardware);
    }
    add_model_flags(evaluator_.model_flags_[gpu], flags);
    const std::vector<GemmEntry>& gemms = group.example.gemms;
    if (std::any_of(gemms.begin(), gemms.end(), [](const GemmEntry& g) { return g.fp8; })) {
      add_model_flags(evaluator_.fp8_flags_[gpu], flags);
    }
    if (group.example.phase == Phase::decode) add_model_flags(evaluator_.decode_flags_[gpu], flags);
    return result;
  }

  static void add_model_flags(const SweepFlags& more, SweepFlags& flags) {
    flags.unseen_gpu = flags.unseen_gpu || more.unseen_gpu;
    flags.quantile = flags.quantile || more.quantile;
    flags.default_rates = flags.default_rates || more.default_rates;
    flags.borrowed_tiles = flags.borrowed_tiles || more.borrowed_tiles;
  }

  void add_on(std::size_t gpu, const std::vector<Step>& steps, const TimesOfOperators& times) {
    SweepResult& result = results_[gpu];
    for (const Step& step : steps) {
      Group& group = groups_[step.group];
      if (!group.times[gpu]) group.times[gpu] = times_on(gpu, group, times);
      const GroupTimes& shared = *group.times[gpu];
      double us = shared.before_us + total_us(step.attention, times, gpu, result.flags);
      for (const double behind_us : shared.behind_us) us += behind_us;
      result.summary.add(group.example.phase, us);
    }
  }

  const SweepEvaluator& evaluator_;
  Workload frame_;  // without iterations
  std::vector<SweepResult> results_;
  std::vector<std::string> problems_;
  std::vector<Group> groups_;  // the last one of the iterations so far, and those of the next ones
  std::int64_t longest_total_context_ = 0;
  std::int64_t output_tokens_ = 0;
};

SweepEvaluator::SweepEvaluator(std::vector<OperatorPredictor> gpus, CollectiveCatalog collectives,
                               std::optional<EngineProfile> engine, std::size_t cache_bytes)
    : gpus_(std::move(gpus)),
      collectives_(std::move(collectives)),
      engine_(std::move(engine)),
      cache_(gpus_.size(), cache_bytes) {
  for (const OperatorPredictor& gpu : gpus_) {
    model_flags_.push_back(flags_of(
        gpu, {GemmConfig{}, with_layout(KvLayout::ragged), RmsNormConfig{}, SiluMulConfig{}}));
    decode_flags_.push_back(flags_of(gpu, {with_layout(KvLayout::paged)}));
    fp8_flags_.push_back(flags_of(gpu, {Fp8GemmConfig{}}));
  }
}

std::vector<SweepResult> SweepEvaluator::evaluate(const ModelConfig& model, const Trace& trace,
                                                  const WorkloadOptions& options,
                                                  const std::atomic<bool>& stop) const {
  try {
    WorkloadSteps steps(model, trace, options);
    WorkloadSums sums(*this, model, options);
    std::vector<Iteration> block;
    std::size_t lengths = 0;
    const auto finish_block = [&] {
      sums.add(std::exchange(block, {}));
      lengths = 0;
    };
    while (std::optional<Iteration> iteration = steps.next(Repeated::left_out)) {
      lengths += iteration->q_lengths.size();
      block.push_back(std::move(*iteration));
      if (block.size() == kMostIterations || lengths >= kMostLengths) {
        if (stop) return {};
        finish_block();
      }
    }
    if (!block.empty()) finish_block();
    return sums.take();
  } catch (const DataError& error) {
    SweepResult result;
    result.problem = error.what();
    return std::vector<SweepResult>(gpus_.size(), result);
  } catch (const std::overflow_error& error) {  // see pw/int_math.h
    SweepResult result;
    result.problem = error.what();
    return std::vector<SweepResult>(gpus_.size(), result);
  }
}

SweepEvaluator::TimesOfOperators SweepEvaluator::times_of(
    const DistinctOperators& operators, std::vector<std::string>& problems) const {
  TimesOfOperators times;
  std::vector<OperatorConfig> configs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < operators.keys().size(); ++i) {
    times.push_back(cache_.find(operators.keys()[i]));
    if (times.back() == nullptr) {
      configs.push_back(operators.configs()[i]);
      places.push_back(i);
    }
  }
  if (configs.empty()) return times;
  const std::vector<std::vector<OperatorPrediction>> predictions = predict(configs, problems);
  operator_predictions_ += configs.size() * gpus_.size();
  const bool complete = std::all_of(problems.begin(), problems.end(),
                                    [](const std::string& problem) { return problem.empty(); });
  for (std::size_t i = 0; i < configs.size(); ++i) {
    auto on_gpus = std::make_shared<OperatorTimes>();
    on_gpus->reserve(gpus_.size());
    for (const std::vector<OperatorPrediction>& on_gpu : predictions) {
      on_gpus->push_back({on_gpu[i].duration_us, on_gpu[i].violation.has_value()});
    }
    times[places[i]] = on_gpus;
    if (complete) cache_.insert(operators.keys()[places[i]], std::move(on_gpus));
  }
  return times;
}

// All GPUs at once; if one of them is refused, GPU by GPU to tell which.
std::vector<std::vector<OperatorPrediction>> SweepEvaluator::predict(
    const std::vector<OperatorConfig>& configs, std::vector<std::string>& problems) const {
  try {
    return OperatorPredictor::predict_on_all(gpus_, configs);
  } catch (const DataError&) {
    std::vector<std::vector<OperatorPrediction>> predictions;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      try {
        predictions.push_back(gpus_[gpu].predict(configs));
      } catch (const DataError& error) {
        predictions.emplace_back(configs.size());
        problems[gpu] = error.what();
      }
    }
    return predictions;
  }
}

}  // namespace pw
