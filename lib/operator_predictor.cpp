#include "pw/operator_predictor.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <type_traits>

#include "pw/elementwise.h"

namespace pw {
namespace {

// Smallest efficiency that a prediction may have; below it durations lose all meaning.
constexpr double kMinEfficiency = 1e-9;

std::optional<double> analytic_us(const OperatorConfig& config, const HardwareSpec& hardware) {
  return std::visit(
      [&](const auto& c) -> std::optional<double> {
        using Config = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<Config, RmsNormConfig> ||
                      std::is_same_v<Config, SiluMulConfig>) {
          return analytic_duration_us(c, hardware);
        } else {
          return std::nullopt;
        }
      },
      config);
}

std::optional<RangeViolation> worst_violation(const ModelRecord& record, const float* features) {
  std::optional<RangeViolation> worst;
  for (std::size_t i = 0; i < record.feature_ranges.size(); ++i) {
    const double value = features[i];
    // The bounds as the network saw them: rounded to float like the value.
    const double low = static_cast<float>(record.feature_ranges[i].min);
    const double high = static_cast<float>(record.feature_ranges[i].max);
    if (value >= low && value <= high) {
      continue;
    }
    const RangeViolation violation{record.features[i], value, value < low ? low : high};
    if (!worst || violation.factor() > worst->factor()) {
      worst = violation;
    }
  }
  return worst;
}

}  // namespace

double RangeViolation::factor() const {
  const double low = std::min(value, bound);
  return low > 0 ? std::max(value, bound) / low : HUGE_VAL;
}

bool has_analytic_form(std::string_view family) {
  return family == RmsNormConfig::kName || family == SiluMulConfig::kName;
}

std::string describe(const RangeViolation& violation) {
  std::ostringstream text;
  text << violation.feature << ' ' << violation.value << ", training range "
       << (violation.value < violation.bound ? "from " : "up to ") << violation.bound;
  return text.str();
}

OperatorPredictor::OperatorPredictor(HardwareSpec hardware, ModelSet models,
                                     OperatorPredictorOptions options)
    : hardware_(std::move(hardware)), models_(std::move(models)), options_(std::move(options)) {
  check(hardware_);
}

OperatorConfig OperatorPredictor::with_tile(const OperatorConfig& config) const {
  const auto* gemm = std::get_if<GemmConfig>(&config);
  if (gemm == nullptr || gemm->tile || !options_.gemm_tiles) {
    return config;
  }
  GemmConfig tiled = *gemm;
  tiled.tile = options_.gemm_tiles->find(tiled, hardware_, options_.tile_lookup);
  return tiled;
}

PipelineFeatures OperatorPredictor::features(const OperatorConfig& config) const {
  const auto found = models_.find(std::string(operator_family(config).name));
  const AnalysisOptions options =
      found == models_.end() ? AnalysisOptions{} : found->second.model->record().analysis;
  return analyze_operator(with_tile(config), hardware_, options);
}

std::vector<OperatorPrediction> OperatorPredictor::predict(
    const std::vector<OperatorConfig>& configs) const {
  std::vector<OperatorPrediction> results(configs.size());
  std::map<std::string, std::vector<std::size_t>> learned;  // family -> configs
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::string family(operator_family(configs[i]).name);
    if (models_.count(family) != 0) {
      learned[family].push_back(i);
    } else if (const std::optional<double> us = analytic_us(configs[i], hardware_)) {
      results[i].duration_us = *us;
    } else {
      throw DataError("no checkpoint for operator '" + family + "': give one with --checkpoint " +
                      family + "=FILE");
    }
  }
  for (const auto& [family, members] : learned) {
    predict_family(*models_.at(family).model, configs, members, results);
  }
  return results;
}

void OperatorPredictor::predict_family(const OperatorModel& model,
                                       const std::vector<OperatorConfig>& configs,
                                       const std::vector<std::size_t>& members,
                                       std::vector<OperatorPrediction>& results) const {
  const ModelRecord& record = model.record();
  const FeatureTable& table = *operator_family(record.operator_name).features;
  std::vector<double (*)(const PipelineFeatures&)> getters;
  for (const std::string& name : record.features) {
    getters.push_back(std::find_if(table.begin(), table.end(), [&](const Feature& f) {
                        return f.name == name;
                      })->of);
  }
  std::vector<float> inputs;
  std::vector<float> ideal;
  inputs.reserve(members.size() * getters.size());
  for (const std::size_t i : members) {
    const PipelineFeatures f = analyze_operator(with_tile(configs[i]), hardware_, record.analysis);
    ideal.push_back(ideal_cycles<float>(f));
    for (const auto& getter : getters) {
      inputs.push_back(static_cast<float>(getter(f)));
    }
  }
  const std::vector<float> outputs = model.evaluate(inputs);
  for (std::size_t row = 0; row < members.size(); ++row) {
    const OperatorConfig& config = configs[members[row]];
    const double output = outputs[row];
    if (!std::isfinite(output) || output == 0) {
      throw DataError(describe(config) + ": the model's output (utilisation) is " +
                      std::to_string(output) +
                      ", expected a positive number; retrain or replace the checkpoint");
    }
    OperatorPrediction& result = results[members[row]];
    result.overall_perf = std::clamp(output, kMinEfficiency, 1.0);
    result.duration_us = duration_us_of(ideal[row], *result.overall_perf, hardware_);
    if (!std::isfinite(result.duration_us) || result.duration_us <= 0) {
      throw DataError(describe(config) + ": the predicted duration is " +
                      std::to_string(result.duration_us) + " us, expected a positive number");
    }
    result.violation = worst_violation(record, inputs.data() + row * getters.size());
  }
}

bool OperatorPredictor::is_unseen_gpu(const std::string& family) const {
  const auto found = models_.find(family);
  if (found == models_.end()) {
    return false;
  }
  const auto& trained = found->second.model->record().hardware_rows;
  return !trained.empty() && std::none_of(trained.begin(), trained.end(), [&](const auto& entry) {
    return entry.first == hardware_.name;
  });
}

std::optional<std::string> OperatorPredictor::tile_lender() const {
  if (!options_.gemm_tiles) {
    return std::nullopt;
  }
  const std::string& lender = options_.gemm_tiles->rows_for(hardware_);
  return lender == hardware_.name ? std::nullopt : std::optional(lender);
}

}  // namespace pw
