#include "pw/operator_predictor.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
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

// A feature as the network sees it before scaling.
double network_input(ModelKind kind, double value) {
  return kind == ModelKind::efficiency ? std::log1p(value) : value;
}

std::optional<RangeViolation> worst_violation(const ModelRecord& record, const float* features) {
  std::optional<RangeViolation> worst;
  for (std::size_t i = 0; i < record.feature_ranges.size(); ++i) {
    const FeatureRange& range = record.feature_ranges[i];
    const double bound = features[i] < range.min ? range.min : range.max;
    const double low = network_input(record.kind, range.min);
    const double high = network_input(record.kind, range.max);
    const double value = network_input(record.kind, features[i]);
    const double beyond = std::max(low - value, value - high);
    // A feature that was constant in training has no width: any other value is far out.
    const double distance = high > low ? beyond / (high - low) : (beyond > 1e-6 ? 1 : 0);
    if (distance > kRangeMargin && (!worst || distance > worst->distance)) {
      worst = RangeViolation{record.features[i], features[i], bound, distance};
    }
  }
  return worst;
}

// A model's output, refused where no duration follows from it and clipped where it has lost all
// meaning.
double usable_output(ModelKind kind, double output, const OperatorConfig& config) {
  if (!std::isfinite(output) || (kind == ModelKind::efficiency && output == 0)) {
    throw DataError(describe(config) + ": the model's output (utilisation) is " +
                    std::to_string(output) +
                    ", expected a positive number; retrain or replace the checkpoint");
  }
  return kind == ModelKind::efficiency ? std::clamp(output, kMinEfficiency, 1.0) : output;
}

}  // namespace

std::vector<std::string> model_names(const OperatorConfig& config) {
  const std::string family(operator_family(config).name);
  if (const auto* attention = std::get_if<AttentionConfig>(&config)) {
    return {family + (attention->layout == KvLayout::paged ? "_paged" : "_ragged"), family};
  }
  return {family};
}

bool has_analytic_form(std::string_view family) {
  return family == RmsNormConfig::kName || family == SiluMulConfig::kName;
}

namespace {

// Features that are logarithms of a quantity are shown as the quantity itself.
struct ShownFeature {
  std::string name;
  double (*quantity)(double);
};
ShownFeature shown_feature(const std::string& feature) {
  if (feature.rfind("log2_", 0) == 0) {
    return {feature.substr(5), [](double x) { return std::exp2(x); }};
  }
  if (feature.rfind("ln_", 0) == 0) {
    return {feature.substr(3), [](double x) { return std::exp(x); }};
  }
  return {feature, [](double x) { return x; }};
}

}  // namespace

std::string describe(const RangeViolation& violation) {
  constexpr int kDigits = 7;
  const ShownFeature shown = shown_feature(violation.feature);
  std::ostringstream text;
  text << std::setprecision(kDigits) << shown.name << ' ' << shown.quantity(violation.value)
       << ", training range " << (violation.value < violation.bound ? "from " : "up to ")
       << shown.quantity(violation.bound) << ", " << std::lround(100 * violation.distance)
       << " % of its width beyond";
  return text.str();
}

std::string describe_quantile(double quantile) {
  std::ostringstream text;
  text << "at quantile " << quantile << " of performance";
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

std::string OperatorPredictor::model_name(const OperatorConfig& config) const {
  for (std::string& name : model_names(config)) {
    if (models_.count(name) != 0) {
      return std::move(name);
    }
  }
  return {};
}

const OperatorModel* OperatorPredictor::model_for(const OperatorConfig& config) const {
  const auto found = models_.find(model_name(config));
  return found == models_.end() ? nullptr : found->second.model.get();
}

PipelineFeatures OperatorPredictor::features(const OperatorConfig& config) const {
  const OperatorModel* model = model_for(config);
  return analyze_operator(with_tile(config), hardware_,
                          model == nullptr ? AnalysisOptions{} : model->record().analysis);
}

std::vector<OperatorPrediction> OperatorPredictor::predict(
    const std::vector<OperatorConfig>& configs) const {
  std::vector<OperatorPrediction> results(configs.size());
  if (options_.method != PredictionMethod::learned) {
    for (std::size_t i = 0; i < configs.size(); ++i) {
      results[i].duration_us = baseline_us(configs[i]);
    }
    return results;
  }
  std::map<const OperatorModel*, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (const OperatorModel* model = model_for(configs[i])) {
      members[model].push_back(i);
    } else if (const std::optional<double> us = analytic_us(configs[i], hardware_)) {
      results[i].duration_us = *us;
    } else {
      const std::string family(operator_family(configs[i]).name);
      throw DataError("no checkpoint for operator '" + family + "': give one with --checkpoint " +
                      family + "=FILE");
    }
  }
  for (const auto& [model, indices] : members) {
    predict_with(*model, configs, indices, results);
  }
  return results;
}

double OperatorPredictor::baseline_us(const OperatorConfig& config) const {
  const Roofline limits = roofline(config, hardware_);
  if (options_.method == PredictionMethod::roofline) {
    return limits.bound_us();
  }
  const std::string family(operator_family(config).name);
  const auto model = options_.linear_models.find(family);
  if (model == options_.linear_models.end()) {
    throw DataError("no linear model for operator '" + family + "': fit one with pw-train linear");
  }
  return model->second.duration_us(limits);
}

void OperatorPredictor::predict_with(const OperatorModel& model,
                                     const std::vector<OperatorConfig>& configs,
                                     const std::vector<std::size_t>& members,
                                     std::vector<OperatorPrediction>& results) const {
  const ModelRecord& record = model.record();
  const std::vector<std::size_t> columns = feature_columns(record, record.operator_name);
  std::vector<float> inputs;
  std::vector<double> reference_us;
  inputs.reserve(members.size() * columns.size());
  for (const std::size_t i : members) {
    const ModelInput input =
        model_input(with_tile(configs[i]), hardware_, record.kind, record.analysis);
    reference_us.push_back(input.reference_us);
    for (const std::size_t column : columns) {
      inputs.push_back(static_cast<float>(input.features[column]));
    }
  }
  const std::vector<float> outputs = model.evaluate(inputs);
  for (std::size_t row = 0; row < members.size(); ++row) {
    const OperatorConfig& config = configs[members[row]];
    OperatorPrediction& result = results[members[row]];
    result.duration_us = duration_us_of(
        record.kind, usable_output(record.kind, outputs[row], config), reference_us[row]);
    if (!std::isfinite(result.duration_us) || result.duration_us <= 0) {
      throw DataError(describe(config) + ": the predicted duration is " +
                      std::to_string(result.duration_us) + " us, expected a positive number");
    }
    result.fraction_of_reference = reference_us[row] / result.duration_us;
    result.violation = worst_violation(record, inputs.data() + row * columns.size());
  }
}

bool OperatorPredictor::is_unseen_gpu(const OperatorConfig& config) const {
  const OperatorModel* model = model_for(config);
  if (model == nullptr) {
    return false;
  }
  const auto& trained = model->record().hardware_rows;
  return !trained.empty() && std::none_of(trained.begin(), trained.end(), [&](const auto& entry) {
    return entry.first == hardware_.name;
  });
}

std::optional<double> OperatorPredictor::output_quantile(const OperatorConfig& config) const {
  const OperatorModel* model = model_for(config);
  return model == nullptr ? std::nullopt : model->record().output_quantile;
}

std::optional<std::string> OperatorPredictor::tile_lender() const {
  if (!options_.gemm_tiles) {
    return std::nullopt;
  }
  const std::string& lender = options_.gemm_tiles->rows_for(hardware_);
  return lender == hardware_.name ? std::nullopt : std::optional(lender);
}

}  // namespace pw
