#include "pw/step_timer.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "comma_list.h"
#include "distinct_operators.h"
#include "error_bands.h"
#include "operator_cache.h"

namespace pw {

// ---- Operators ----

OperatorTimer::OperatorTimer(std::vector<OperatorPredictor> gpus, std::size_t cache_bytes)
    : gpus_(std::move(gpus)),
      cache_(std::make_unique<OperatorCache>(gpus_.size(), cache_bytes)),
      operator_predictions_(std::make_unique<std::atomic<std::uint64_t>>(0)) {}
OperatorTimer::~OperatorTimer() = default;
OperatorTimer::OperatorTimer(OperatorTimer&&) noexcept = default;
OperatorTimer& OperatorTimer::operator=(OperatorTimer&&) noexcept = default;

TimesOfOperators OperatorTimer::times_of(const DistinctOperators& operators,
                                         std::vector<std::string>& problems) const {
  TimesOfOperators times;
  times.reserve(operators.keys().size());
  std::vector<OperatorConfig> configs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < operators.keys().size(); ++i) {
    times.push_back(cache_->find(operators.keys()[i]));
    if (times.back() == nullptr) {
      configs.push_back(operators.configs()[i]);
      places.push_back(i);
    }
  }
  if (configs.empty()) return times;
  const std::vector<std::vector<OperatorPrediction>> predictions = predict(configs, problems);
  *operator_predictions_ += configs.size() * gpus_.size();
  const bool complete = std::all_of(problems.begin(), problems.end(),
                                    [](const std::string& problem) { return problem.empty(); });
  for (std::size_t i = 0; i < configs.size(); ++i) {
    auto on_gpus = std::make_shared<OperatorTimes>();
    on_gpus->reserve(gpus_.size());
    for (const std::vector<OperatorPrediction>& on_gpu : predictions) {
      const std::optional<RangeViolation>& violation = on_gpu[i].violation;
      on_gpus->push_back({on_gpu[i].duration_us, violation ? violation->distance : 0});
    }
    times[places[i]] = on_gpus;
    if (complete) cache_->insert(operators.keys()[places[i]], std::move(on_gpus));
  }
  return times;
}

// All GPUs at once; if one of them is refused, GPU by GPU to tell which.
std::vector<std::vector<OperatorPrediction>> OperatorTimer::predict(
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

// ---- Bodies ----

// The operators of a body among the distinct ones of the block that timed it first, and its lines
// on each GPU.
struct TimedBody {
  struct Line {
    double single_us = 0;
    std::int64_t calls = 0;

    double total_us() const { return single_us * static_cast<double>(calls); }
  };
  struct OnGpu {
    double before_us = 0;  // the sum of `before`
    std::vector<Line> before, after;
    std::vector<CollectiveEstimate> transfers;  // times in `after`, after its operators
    std::vector<EngineOperator> engine;         // likewise, at its end
    double extrapolated = 0;                    // the largest distance of an operator
  };

  std::shared_ptr<const StepBody> body;
  std::vector<OnGpu> on_gpu;
};

struct StepTimer::BodyCache {
  // A body with the layouts of the attention beside it, which the engine's operators depend on.
  struct Key {
    const StepBody* body;
    std::uint64_t layouts;

    bool operator==(const Key& other) const {
      return body == other.body && layouts == other.layouts;
    }
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.body) ^ (key.layouts * 0x9E3779B97F4A7C15u);
    }
  };
  static Key key_of(const Step& step) {
    std::uint64_t layouts = 1;
    for (const Op& op : step.attention) {
      const bool paged = std::get<AttentionConfig>(op.problem).layout == KvLayout::paged;
      layouts = 4 * layouts + (paged ? 2 : 1);
    }
    return {step.body.get(), layouts};
  }
  // Forgets bodies that no step has any more.
  void drop_unused() {
    for (auto each = bodies.begin(); each != bodies.end();) {
      each = each->second->body.use_count() == 1 ? bodies.erase(each) : std::next(each);
    }
  }

  std::unordered_map<Key, std::shared_ptr<const TimedBody>, Hash> bodies;
};

StepTimer::StepTimer(const OperatorTimer& operators, const CollectiveCatalog& collectives,
                     Deployment deployment)
    : operators_(operators),
      collectives_(collectives),
      deployment_(std::move(deployment)),
      bodies_(std::make_unique<BodyCache>()) {}
StepTimer::~StepTimer() = default;

namespace {

// Where the operators of a body that is new in a block stand among the block's distinct ones.
struct PlacedBody {
  const Step* example = nullptr;  // the first step with this body
  std::vector<std::size_t> before, after;
};

std::vector<std::size_t> places_of(const std::vector<Op>& ops, DistinctOperators& distinct) {
  std::vector<std::size_t> places;
  places.reserve(ops.size());
  for (const Op& op : ops) places.push_back(distinct.index(op.problem));
  return places;
}

std::int64_t custom_all_reduce_max_bytes(const std::optional<EngineProfile>& engine) {
  return engine ? engine->custom_all_reduce_max_bytes : 0;
}

}  // namespace

TimedSteps StepTimer::time(const std::vector<Step>& steps) {
  bodies_->drop_unused();
  const std::size_t gpus = operators_.gpus().size();
  auto distinct = std::make_shared<DistinctOperators>();
  TimedSteps block;
  block.operators_ = &operators_;
  block.problems_.resize(gpus);
  block.steps_.reserve(steps.size());
  std::vector<std::pair<std::shared_ptr<TimedBody>, PlacedBody>> new_bodies;
  for (const Step& step : steps) {
    TimedSteps::TimedStep& timed = block.steps_.emplace_back();
    timed.step = &step;
    std::shared_ptr<const TimedBody>& known = bodies_->bodies[BodyCache::key_of(step)];
    if (known == nullptr) {
      auto body = std::make_shared<TimedBody>();
      body->body = step.body;
      new_bodies.push_back({body,
                            {&step, places_of(step.body->before_attention, *distinct),
                             places_of(step.body->after_attention, *distinct)}});
      known = std::move(body);
    }
    timed.body = known;
    timed.attention = places_of(step.attention, *distinct);
  }
  block.times_ = operators_.times_of(*distinct, block.problems_);
  block.distinct_ = std::move(distinct);

  for (auto& [body, placed] : new_bodies) {
    body->on_gpu.resize(gpus);
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      if (!block.problems_[gpu].empty()) continue;
      TimedBody::OnGpu& on = body->on_gpu[gpu];
      const auto add = [&, gpu = gpu](const std::vector<Op>& ops,
                                      const std::vector<std::size_t>& places,
                                      std::vector<TimedBody::Line>& lines) {
        for (std::size_t i = 0; i < ops.size(); ++i) {
          const OperatorTimeOnGpu& time = (*block.times_[places[i]])[gpu];
          lines.push_back({time.duration_us, ops[i].calls});
          on.extrapolated = std::max(on.extrapolated, time.extrapolated);
        }
      };
      add(body->body->before_attention, placed.before, on.before);
      for (const TimedBody::Line& line : on.before) on.before_us += line.total_us();
      add(body->body->after_attention, placed.after, on.after);
      const HardwareSpec& hardware = operators_.gpus()[gpu].hardware();
      for (const Transfer& transfer : body->body->transfers) {
        on.transfers.push_back(collectives_.estimate(
            hardware, collective_of(transfer.name, transfer.type), transfer.volume_bytes,
            deployment_.tp_size, custom_all_reduce_max_bytes(deployment_.engine)));
        on.after.push_back({on.transfers.back().duration_us, transfer.calls});
      }
      if (!deployment_.engine) continue;
      on.engine =
          engine_operators(deployment_.model, *placed.example, hardware, *deployment_.engine);
      for (const EngineOperator& extra : on.engine) {
        on.after.push_back({extra.single_us, extra.count});
      }
    }
  }
  // A GPU that failed here may succeed with other steps: nothing of it may be remembered.
  for (const std::string& problem : block.problems_) {
    if (problem.empty()) continue;
    bodies_->bodies.clear();
    break;
  }
  return block;
}

StepTime StepTimer::time(const Step& step, std::size_t gpu) {
  const std::vector<Step> steps{step};
  const TimedSteps timed = time(steps);
  if (!timed.problem(gpu).empty()) throw DataError(timed.problem(gpu));
  return timed.time(gpu, 0);
}

// ---- Sums ----

double TimedSteps::total_us(std::size_t gpu, std::size_t step) const {
  const TimedStep& timed = steps_[step];
  const TimedBody::OnGpu& body = timed.body->on_gpu[gpu];
  double us = body.before_us;
  for (std::size_t i = 0; i < timed.attention.size(); ++i) {
    us += (*times_[timed.attention[i]])[gpu].duration_us *
          static_cast<double>(timed.step->attention[i].calls);
  }
  for (const TimedBody::Line& line : body.after) us += line.total_us();
  return us;
}

StepTime TimedSteps::time(std::size_t gpu, std::size_t step) const {
  const TimedStep& timed = steps_[step];
  const TimedBody::OnGpu& body = timed.body->on_gpu[gpu];
  const OperatorPredictor& predictor = operators_->gpus()[gpu];
  StepTime result;
  const auto add_op = [&](const Op& op, double single_us) {
    OperatorErrors errors = predictor.errors(op.problem);
    result.operators.push_back({op.group, op.name, single_us, op.calls,
                                errors.model.empty() ? op.name : std::move(errors.model),
                                errors.band});
  };
  const StepBody& ops = *timed.body->body;
  for (std::size_t i = 0; i < ops.before_attention.size(); ++i) {
    add_op(ops.before_attention[i], body.before[i].single_us);
  }
  for (std::size_t i = 0; i < timed.attention.size(); ++i) {
    add_op(timed.step->attention[i], (*times_[timed.attention[i]])[gpu].duration_us);
  }
  std::size_t line = 0;
  for (const Op& op : ops.after_attention) add_op(op, body.after[line++].single_us);
  for (std::size_t i = 0; i < ops.transfers.size(); ++i, ++line) {
    const Transfer& transfer = ops.transfers[i];
    result.operators.push_back({OperatorGroup::communication, transfer.name,
                                body.after[line].single_us, transfer.calls, transfer.name,
                                body.transfers[i].errors});
  }
  for (const EngineOperator& extra : body.engine) {
    const std::string name(extra.name);
    result.operators.push_back(
        {OperatorGroup::engine, name, extra.single_us, extra.count, name, std::nullopt});
  }
  for (const OperatorTime& time : result.operators) result.total_us += time.total_us();
  return result;
}

// ---- Facts ----

namespace {

Fact foreign_kernel(const AttentionConfig& attention, Phase phase, const HardwareSpec& hardware) {
  const std::string asked = attention_type(attention.kernel, attention.layout);
  const std::string usual = attention_type(automatic_kernel(hardware), attention.layout);
  return {FactKind::foreign_kernel,
          "attention: the workload asks for " + asked + " in " + std::string(to_string(phase)) +
              ", engines run " + usual + " on " + hardware.name,
          {{"kernel", asked}, {"usual_kernel", usual}}};
}

Fact unseen_gpu(const std::vector<std::string>& models, const HardwareSpec& hardware) {
  return {FactKind::unseen_gpu,
          comma_list(models) + ": trained without " + hardware.name +
              ", the models transfer from other GPUs",
          {{"models", models}, {"gpu", hardware.name}}};
}

Fact default_rates(const HardwareSpec& hardware) {
  return {FactKind::default_rates,
          "gemm: sustained rates of " + hardware.name +
              " are defaults of its architecture and power class, measure them with pw-train "
              "calibrate",
          {{"gpu", hardware.name}}};
}

Fact borrowed_tiles(const std::string& lender) {
  return {FactKind::borrowed_tiles,
          "gemm: tiles are those of the GEMM table's rows of " + lender,
          {{"from_gpu", lender}}};
}

// A ceiling makes every sum a lower limit.
Fact quantile(const OperatorFamily& family, double level) {
  return {FactKind::quantile,
          std::string(family.name) + ": predicted " + describe_quantile(level) +
              ", not the typical duration",
          {{"operator", std::string(family.name)}, {"quantile", level}}};
}

// The operators of one family that lie outside what its model was fitted on.
struct Outside {
  std::int64_t shapes = 0, outside = 0;
  std::size_t furthest = 0;  // place among the distinct operators
  double distance = 0;
};

Fact extrapolated(const OperatorFamily& family, const Outside& outside,
                  const OperatorConfig& furthest, const OperatorPredictor& predictor) {
  const std::optional<RangeViolation> violation = predictor.predict({furthest}).front().violation;
  const std::string name(family.name);
  return {FactKind::extrapolated,
          name + ": " + std::to_string(outside.outside) + " of " + std::to_string(outside.shapes) +
              " distinct shapes lie outside the training range, the furthest is " +
              describe(furthest) + (violation ? " (" + describe(*violation) + ")" : ""),
          {{"operator", name},
           {"shapes_outside", outside.outside},
           {"shapes", outside.shapes},
           {"furthest", describe(furthest)},
           {"feature", violation ? violation->feature : ""},
           {"distance", outside.distance}}};
}

}  // namespace

// Calls tell(kind, make) for each fact, make() being the fact in words.
template <class Tell>
void TimedSteps::tell_facts(std::size_t gpu, const Tell& tell) const {
  const OperatorPredictor& predictor = operators_->gpus()[gpu];
  const HardwareSpec& hardware = predictor.hardware();
  for (const TimedStep& timed : steps_) {
    for (const Op& op : timed.step->attention) {
      const auto& attention = std::get<AttentionConfig>(op.problem);
      if (runs_on(attention.kernel, hardware)) continue;
      tell(FactKind::foreign_kernel,
           [&] { return foreign_kernel(attention, timed.step->phase, hardware); });
    }
  }
  // By what answers: one operator stands for all of the same model.
  std::vector<std::string> unseen;
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::array<std::size_t, OperatorPredictor::kAnswers> examples;
  examples.fill(kNone);
  std::array<Outside, std::variant_size_v<OperatorConfig>> outside_of_family;
  const std::vector<OperatorConfig>& configs = distinct_->configs();
  for (std::size_t i = 0; i < configs.size(); ++i) {
    std::size_t& example = examples[OperatorPredictor::answer_place(configs[i])];
    if (example == kNone) example = i;
    Outside& outside = outside_of_family[configs[i].index()];
    const double distance = (*times_[i])[gpu].extrapolated;
    ++outside.shapes;
    if (distance <= 0) continue;
    ++outside.outside;
    if (distance > outside.distance) {
      outside.distance = distance;
      outside.furthest = i;
    }
  }
  bool gemm = false;
  for (const std::size_t example : examples) {
    if (example == kNone) continue;
    gemm = gemm || std::holds_alternative<GemmConfig>(configs[example]);
    if (predictor.is_unseen_gpu(configs[example])) {
      unseen.push_back(predictor.model_name(configs[example]));
    }
  }
  if (!unseen.empty()) tell(FactKind::unseen_gpu, [&] { return unseen_gpu(unseen, hardware); });
  if (gemm && sustained_fractions(hardware).is_default) {
    tell(FactKind::default_rates, [&] { return default_rates(hardware); });
  }
  if (const std::optional<std::string> lender = predictor.tile_lender(); gemm && lender) {
    tell(FactKind::borrowed_tiles, [&] { return borrowed_tiles(*lender); });
  }
  for (const std::size_t example : examples) {
    if (example == kNone) continue;
    if (const std::optional<std::string> kernels = predictor.library_kernels(configs[example])) {
      tell(FactKind::library_kernels, [&] {
        const std::string model = predictor.model_name(configs[example]);
        return Fact{
            FactKind::library_kernels,
            model + ": fitted on kernels of " + *kernels + ", a serving engine may run others",
            {{"model", model}, {"kernels", *kernels}}};
      });
    }
  }
  for (std::size_t family = 0; family < outside_of_family.size(); ++family) {
    const Outside& outside = outside_of_family[family];
    if (outside.outside == 0) continue;
    tell(FactKind::extrapolated, [&] {
      return extrapolated(operator_families()[family], outside, configs[outside.furthest],
                          predictor);
    });
  }
  for (const std::size_t example : examples) {
    if (example == kNone) continue;
    if (const std::optional<double> level = predictor.output_quantile(configs[example])) {
      tell(FactKind::quantile, [&] { return quantile(operator_family(configs[example]), *level); });
    }
  }
  const TimedBody* last = nullptr;
  for (const TimedStep& timed : steps_) {
    if (timed.body.get() == last) continue;
    last = timed.body.get();
    for (const CollectiveEstimate& estimate : last->on_gpu[gpu].transfers) {
      for (const Fact& fact : estimate.facts) tell(fact.kind, [&] { return fact; });
    }
  }
}

Facts TimedSteps::facts(std::size_t gpu) const {
  Facts facts;
  tell_facts(gpu, [&](FactKind, const auto& make) { facts.add(make()); });
  return facts;
}

FactKinds TimedSteps::fact_kinds(std::size_t gpu) const {
  FactKinds kinds;
  tell_facts(gpu, [&](FactKind kind, const auto&) { kinds.set(static_cast<std::size_t>(kind)); });
  return kinds;
}

}  // namespace pw
