#include "pw/operators.h"

#include <stdexcept>
#include <type_traits>

#include "pw/fields.h"

namespace pw {
namespace {

template <class Config>
OperatorFamily family_of() {
  return {Config::kName, problem_columns<Config>(), &Config::features(),
          &ratio_names(static_cast<const Config*>(nullptr)),
          [](const Fields& fields) -> OperatorConfig { return Config::read(fields); }};
}

template <class... Configs>
std::vector<OperatorFamily> families_of(const std::variant<Configs...>*) {
  return {family_of<Configs>()...};
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
  return with_clear_overflow(config, [&](const auto& c) -> PipelineFeatures {
    if constexpr (family::has_pipelines<std::decay_t<decltype(c)>>) {
      return analyze(c, hardware, options);
    } else {
      throw DataError("operator '" + std::string(c.kName) +
                      "' has no pipeline features: its models are of kind log_ratio, fitted with "
                      "--preset recommended");
    }
  });
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

std::vector<std::string> problem_cells(const OperatorConfig& config) {
  return std::visit([](const auto& c) { return problem_cells_of(c); }, config);
}

std::int64_t new_tokens(const OperatorConfig& config) {
  return std::visit([](const auto& c) { return c.tokens(); }, config);
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
      [](const auto& c) {
        return std::string(std::decay_t<decltype(c)>::kName) + described_problem(c);
      },
      config);
}

}  // namespace pw
