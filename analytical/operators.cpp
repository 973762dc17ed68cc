#include "pw/operators.h"

#include <stdexcept>
#include <type_traits>

#include "pw/fields.h"

namespace pw {
namespace {

template <class Config>
OperatorFamily family_of() {
  return {Config::kName,
          {Config::kProblemColumns.begin(), Config::kProblemColumns.end()},
          &Config::features(),
          &ratio_names(static_cast<const Config*>(nullptr)),
          [](const Fields& fields) -> OperatorConfig { return Config::read(fields); }};
}

template <class... Configs>
std::vector<OperatorFamily> families_of(const std::variant<Configs...>*) {
  return {family_of<Configs>()...};
}

std::string text(std::int64_t value) { return std::to_string(value); }

std::string shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  return " M=" + text(m) + " N=" + text(n) + " K=" + text(k);
}
std::string problem(const GemmConfig& c) { return shape(c.m, c.n, c.k); }
std::string problem(const Fp8GemmConfig& c) { return shape(c.m, c.n, c.k); }
std::string problem(const AttentionConfig& c) {
  return " " + attention_type(c.kernel, c.layout) +
         " bs=" + text(static_cast<std::int64_t>(c.q_lengths.size())) +
         " nh=" + text(c.query_heads) + " nkv=" + text(c.kv_heads) + " hd=" + text(c.head_dim);
}
std::string problem(const RmsNormConfig& c) {
  return " seq=" + text(c.seq) + " dim=" + text(c.dim);
}
std::string problem(const SiluMulConfig& c) {
  return " seq=" + text(c.seq) + " dim=" + text(c.dim) + (c.gated ? "" : " without gate");
}
std::string problem(const MoeConfig& c) {
  return std::string(c.pass == MoeConfig::Pass::w13 ? " w13" : " w2") + " M=" + text(c.tokens) +
         " E=" + text(c.experts) + " topk=" + text(c.top_k) + " H=" + text(c.hidden) +
         " N=" + text(c.intermediate);
}

}  // namespace

std::string_view to_string(Fa2Schedule schedule) {
  return schedule == Fa2Schedule::published ? "published" : "faithful";
}

std::string_view to_string(GemmTilePolicy policy) {
  return policy == GemmTilePolicy::fixed_128 ? "fixed_128" : "selected";
}

Fa2Schedule parse_fa2_schedule(std::string_view name) {
  for (const Fa2Schedule schedule : {Fa2Schedule::published, Fa2Schedule::faithful}) {
    if (name == to_string(schedule)) {
      return schedule;
    }
  }
  throw DataError("fa2 schedule '" + std::string(name) + "', expected published or faithful");
}

GemmTilePolicy parse_gemm_tile_policy(std::string_view name) {
  for (const GemmTilePolicy policy : {GemmTilePolicy::fixed_128, GemmTilePolicy::selected}) {
    if (name == to_string(policy)) {
      return policy;
    }
  }
  throw DataError("gemm tile policy '" + std::string(name) + "', expected fixed_128 or selected");
}

namespace {

template <class Config>
auto& copies_of(Config& config) {
  if constexpr (std::is_same_v<std::remove_const_t<Config>, AttentionConfig>) {
    return config.kv_copies;
  } else {
    return config.weight_copies;
  }
}

template <class Config, class Plain = std::decay_t<Config>>
constexpr bool has_copies =
    std::is_same_v<Plain, GemmConfig> || std::is_same_v<Plain, Fp8GemmConfig> ||
    std::is_same_v<Plain, AttentionConfig>;

// An overflow deep in a formula, told as what it is for the person who gave the problem.
template <class Function>
auto with_clear_overflow(const OperatorConfig& config, const Function& function) {
  try {
    return std::visit(function, config);
  } catch (const std::overflow_error& error) {
    throw DataError(describe(config) + ": " + error.what() + ", expected a smaller problem");
  }
}

}  // namespace

PipelineFeatures analyze_operator(const OperatorConfig& config, const HardwareSpec& hardware,
                                  const AnalysisOptions& options) {
  return with_clear_overflow(config, [&](const auto& c) { return analyze(c, hardware, options); });
}

RatioFeatures operator_ratios(const OperatorConfig& config, const HardwareSpec& hardware) {
  return with_clear_overflow(config, [&](const auto& c) { return ratios(c, hardware); });
}

RatioFeatures operator_ratios(const OperatorConfig& config, double copies,
                              const HardwareSpec& hardware) {
  return with_clear_overflow(config, [&](const auto& c) {
    if constexpr (has_copies<decltype(c)>)
      return ratios(c, copies, hardware);
    else
      return ratios(c, hardware);
  });
}

std::optional<double> operand_copies(const OperatorConfig& config) {
  return std::visit(
      [](const auto& c) -> std::optional<double> {
        if constexpr (has_copies<decltype(c)>)
          return copies_of(c);
        else
          return std::nullopt;
      },
      config);
}

void set_operand_copies(OperatorConfig& config, double copies) {
  std::visit(
      [&](auto& c) {
        if constexpr (has_copies<decltype(c)>) copies_of(c) = copies;
      },
      config);
}

Work operator_work(const OperatorConfig& config) {
  return with_clear_overflow(config, [](const auto& c) { return work(c); });
}

const std::vector<OperatorFamily>& operator_families() {
  static const std::vector<OperatorFamily> families =
      families_of(static_cast<const OperatorConfig*>(nullptr));
  return families;
}

const OperatorFamily& operator_family(std::string_view name) {
  std::string known;
  for (const OperatorFamily& family : operator_families()) {
    if (family.name == name) {
      return family;
    }
    known += (known.empty() ? "" : ", ") + std::string(family.name);
  }
  throw DataError("unknown operator '" + std::string(name) + "', expected one of " + known);
}

const OperatorFamily& operator_family(const OperatorConfig& config) {
  return operator_families()[config.index()];
}

std::string describe(const OperatorConfig& config) {
  return std::visit(
      [](const auto& c) { return std::string(std::decay_t<decltype(c)>::kName) + problem(c); },
      config);
}

}  // namespace pw
