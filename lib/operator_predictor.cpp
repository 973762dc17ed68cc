#include "pw/operator_predictor.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "error_bands.h"
#include "io/json_file.h"
#include "pw/elementwise.h"

namespace pw {
namespace {

// Smallest efficiency that a prediction may have; below it durations lose all meaning.
constexpr double kMinEfficiency = 1e-9;

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
    // A feature that was constant in training, up to rounding, has no width: any other value is far
    // out.
    const double rounding = 1e-6 * std::max({1.0, std::abs(low), std::abs(high)});
    const double distance =
        high - low > rounding ? beyond / (high - low) : (beyond > rounding ? 1 : 0);
    if (distance > kRangeMargin && (!worst || distance > worst->distance)) {
      worst = RangeViolation{record.features[i], features[i], bound, distance};
    }
  }
  return worst;
}

// A model's output, refused where no duration follows from it and clipped at the whole rate.
double usable_output(ModelKind kind, double output, const OperatorConfig& config) {
  if (!std::isfinite(output)) {
    throw DataError("model output not finite for " + describe(config) +
                    "; retrain or replace the checkpoint");
  }
  if (kind != ModelKind::efficiency) return output;
  if (output < kMinEfficiency) {
    throw DataError("utilisation 0 for " + describe(config) + ": the model's output is " +
                    python_repr(output) + ", expected more; retrain or replace the checkpoint");
  }
  return std::min(output, 1.0);
}

}  // namespace

std::vector<std::string> model_names(const OperatorConfig& config) {
  const std::string family(operator_family(config).name);
  if (const auto* attention = std::get_if<AttentionConfig>(&config)) {
    return {family + (attention->layout == KvLayout::paged ? "_paged" : "_ragged"), family};
  }
  return {family};
}

namespace {

template <class Config, class = void>
constexpr bool is_analytic = false;
template <class Config>
constexpr bool
    is_analytic<Config, std::void_t<decltype(analytic_duration_us(
                            std::declval<const Config&>(), std::declval<const HardwareSpec&>()))>> =
        true;

template <std::size_t... index>
std::vector<OperatorConfig> default_configs(std::index_sequence<index...>) {
  return {std::variant_alternative_t<index, OperatorConfig>{}...};
}

// Empty problems, in the order of OperatorConfig.
std::vector<OperatorConfig> one_of_each_family() {
  return default_configs(std::make_index_sequence<std::variant_size_v<OperatorConfig>>());
}

}  // namespace

bool has_analytic_form(std::string_view family) {
  for (const OperatorConfig& config : one_of_each_family()) {
    if (operator_family(config).name != family) continue;
    return std::visit([](const auto& c) { return is_analytic<std::decay_t<decltype(c)>>; }, config);
  }
  return false;
}

namespace {

// Features that are logarithms of a quantity are shown as the quantity itself.
struct ShownFeature {
  std::string name;
  double (*quantity)(double) = nullptr;  // of a logarithm; null for a quantity itself
  double (*logarithm)(double) = nullptr;
};
ShownFeature shown_feature(const std::string& feature) {
  if (feature.rfind("log2_", 0) == 0) {
    return {feature.substr(5), [](double x) { return std::exp2(x); },
            [](double x) { return std::log2(x); }};
  }
  if (feature.rfind("ln_", 0) == 0) {
    return {feature.substr(3), [](double x) { return std::exp(x); },
            [](double x) { return std::log(x); }};
  }
  return {feature};
}

// Whether the value stands for a quantity so large that its logarithm in float32, as the network
// sees it, is also that of others.
bool is_rounded(const RangeViolation& violation) {
  constexpr double kToldApart = 1e5;
  const ShownFeature shown = shown_feature(violation.feature);
  return shown.quantity != nullptr && shown.quantity(violation.value) > kToldApart;
}

// A feature's value; where it may be the logarithm of an integer, as far as float32 tells it, that
// integer with all its digits.
std::string shown_value(const ShownFeature& feature, double value) {
  constexpr int kDigits = 7;
  constexpr double kLargest = 1e15;
  const double quantity = feature.quantity == nullptr ? value : feature.quantity(value);
  const double integer = std::round(quantity);
  if (feature.quantity != nullptr && integer >= 1 && integer < kLargest &&
      static_cast<float>(feature.logarithm(integer)) == static_cast<float>(value)) {
    return std::to_string(static_cast<std::int64_t>(integer));
  }
  std::ostringstream text;
  text << std::setprecision(kDigits) << quantity;
  return text.str();
}

}  // namespace

std::string describe(const RangeViolation& violation) {
  const ShownFeature shown = shown_feature(violation.feature);
  return shown.name + ' ' + shown_value(shown, violation.value) + ", training range " +
         (violation.value < violation.bound ? "from " : "up to ") +
         shown_value(shown, violation.bound) + ", " +
         std::to_string(std::lround(100 * violation.distance)) + " % of its width beyond";
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
  find_answers();
}

void OperatorPredictor::find_answers() {
  const auto answer = [&](const OperatorConfig& config) {
    Answer found;
    for (const std::string& name : model_names(config)) {
      const auto loaded = models_.find(name);
      if (loaded == models_.end()) continue;
      found.name = name;
      found.model = loaded->second.model.get();
      found.columns = feature_columns(found.model->record(), loaded->second.file);
      found.errors = band_for(found.model->record(), hardware_.name);
      break;
    }
    answers_.push_back(std::move(found));
  };
  for (const OperatorConfig& config : one_of_each_family()) answer(config);
  AttentionConfig attention;
  attention.layout = KvLayout::paged;
  answer(attention);
}

std::size_t OperatorPredictor::answer_place(const OperatorConfig& config) {
  const auto* attention = std::get_if<AttentionConfig>(&config);
  const bool paged = attention != nullptr && attention->layout == KvLayout::paged;
  return paged ? kAnswers - 1 : config.index();
}

const OperatorPredictor::Answer& OperatorPredictor::answer_for(const OperatorConfig& config) const {
  return answers_[answer_place(config)];
}

std::optional<OperatorConfig> OperatorPredictor::with_tile(const OperatorConfig& config) const {
  const auto* gemm = std::get_if<GemmConfig>(&config);
  if (gemm == nullptr || gemm->tile || !options_.gemm_tiles) {
    return std::nullopt;
  }
  GemmConfig tiled = *gemm;
  tiled.tile = options_.gemm_tiles->find(tiled, hardware_, options_.tile_lookup);
  return tiled;
}

std::string OperatorPredictor::model_name(const OperatorConfig& config) const {
  return answer_for(config).name;
}

ModelInput OperatorPredictor::input(const OperatorConfig& config, const ModelRecord& record) const {
  const std::optional<OperatorConfig> tiled = with_tile(config);
  return model_input(tiled ? *tiled : config, hardware_, record.kind, record.analysis);
}

PipelineFeatures OperatorPredictor::features(const OperatorConfig& config) const {
  const OperatorModel* model = answer_for(config).model;
  const std::optional<OperatorConfig> tiled = with_tile(config);
  return analyze_operator(tiled ? *tiled : config, hardware_,
                          model == nullptr ? AnalysisOptions{} : model->record().analysis);
}

std::vector<OperatorPrediction> OperatorPredictor::predict(
    const std::vector<OperatorConfig>& configs) const {
  return std::move(predict_on({this, 1}, configs).front());
}

std::vector<std::vector<OperatorPrediction>> OperatorPredictor::predict_on_all(
    const std::vector<OperatorPredictor>& gpus, const std::vector<OperatorConfig>& configs) {
  return gpus.empty() ? Results{} : predict_on({gpus.data(), gpus.size()}, configs);
}

OperatorPredictor::Results OperatorPredictor::predict_on(
    Gpus gpus, const std::vector<OperatorConfig>& configs) {
  Results results(gpus.count, std::vector<OperatorPrediction>(configs.size()));
  std::map<const OperatorModel*, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const bool learned = gpus.first->options_.method == PredictionMethod::learned;
    const OperatorModel* model = gpus.first->answer_for(configs[i]).model;
    if (learned && model != nullptr) {
      members[model].push_back(i);
      continue;
    }
    for (std::size_t gpu = 0; gpu < gpus.count; ++gpu) {
      const OperatorPredictor& predictor = gpus.first[gpu];
      results[gpu][i].duration_us =
          learned ? predictor.analytic_us(configs[i]) : predictor.baseline_us(configs[i]);
    }
  }
  for (const auto& [model, indices] : members) {
    predict_with(gpus.first->answer_for(configs[indices.front()]), gpus, configs, indices, results);
  }
  return results;
}

double OperatorPredictor::analytic_us(const OperatorConfig& config) const {
  return std::visit(
      [&](const auto& c) -> double {
        if constexpr (is_analytic<std::decay_t<decltype(c)>>) {
          return analytic_duration_us(c, hardware_);
        } else {
          const std::string family(c.kName);
          throw DataError("no checkpoint for operator '" + family +
                          "': give one with --checkpoint " + family + "=FILE");
        }
      },
      config);
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

// Rows of the network's input: by config, then by GPU.
void OperatorPredictor::predict_with(const Answer& answer, Gpus gpus,
                                     const std::vector<OperatorConfig>& configs,
                                     const std::vector<std::size_t>& members, Results& results) {
  const ModelRecord& record = answer.model->record();
  const std::vector<std::size_t>& columns = answer.columns;
  std::vector<float> inputs;
  std::vector<double> reference_us;
  std::vector<ReusedOperand> reused;
  inputs.reserve(members.size() * gpus.count * columns.size());
  reference_us.reserve(members.size() * gpus.count);
  reused.reserve(members.size() * gpus.count);
  for (const std::size_t i : members) {
    const OperatorInputs inputs_of_config(configs[i], record.kind, record.analysis,
                                          record.operand_copies);
    for (const OperatorPredictor& gpu : gpus) {
      const std::optional<OperatorConfig> tiled = gpu.with_tile(configs[i]);
      const ModelInput input = tiled ? model_input(*tiled, gpu.hardware_, record.kind,
                                                   record.analysis, record.operand_copies)
                                     : inputs_of_config.on(gpu.hardware_);
      reference_us.push_back(input.reference_us);
      reused.push_back(input.reused.value_or(ReusedOperand{}));
      for (const std::size_t column : columns) {
        inputs.push_back(static_cast<float>(input.features[column]));
      }
    }
  }
  std::vector<std::optional<ErrorBand>> errors_of_gpu;
  for (const OperatorPredictor& gpu : gpus) {
    errors_of_gpu.push_back(gpu.answer_for(configs[members.front()]).errors);
  }
  const std::vector<float> outputs = answer.model->evaluate(inputs);
  for (std::size_t row = 0; row < outputs.size(); ++row) {
    const std::size_t i = members[row / gpus.count];
    const OperatorConfig& config = configs[i];
    OperatorPrediction& result = results[row % gpus.count][i];
    result.duration_us = duration_us_of(
        record.kind, usable_output(record.kind, outputs[row], config), reference_us[row]);
    if (record.operand_copies) {
      result.duration_us = with_copies(result.duration_us, reused[row], *record.operand_copies,
                                       operand_copies(config).value_or(*record.operand_copies));
    }
    if (!std::isfinite(result.duration_us) || result.duration_us <= 0) {
      throw DataError(describe(config) + ": the predicted duration is " +
                      std::to_string(result.duration_us) + " us, expected a positive number");
    }
    result.fraction_of_reference = reference_us[row] / result.duration_us;
    result.errors = errors_of_gpu[row % gpus.count];
    result.violation = worst_violation(record, inputs.data() + row * columns.size());
    if (result.violation && is_rounded(*result.violation)) {
      const std::vector<std::string>& names = record.features;
      const auto place = std::find(names.begin(), names.end(), result.violation->feature);
      const std::size_t column = columns[static_cast<std::size_t>(place - names.begin())];
      result.violation->value = gpus.first[row % gpus.count].input(config, record).features[column];
    }
  }
}

OperatorErrors OperatorPredictor::errors(const OperatorConfig& config) const {
  const Answer& answer = answer_for(config);
  if (answer.model == nullptr) return {};
  const bool learned = options_.method == PredictionMethod::learned;
  return {answer.name, learned ? answer.errors : std::nullopt};
}

std::optional<std::string> OperatorPredictor::library_kernels(const OperatorConfig& config) const {
  const OperatorModel* model = answer_for(config).model;
  if (model == nullptr) return std::nullopt;
  for (const auto& [option, value] : model->record().training) {
    if (option == "kernel_source" && value.find("LibTorch") != std::string::npos) return value;
  }
  return std::nullopt;
}

bool OperatorPredictor::is_unseen_gpu(const OperatorConfig& config) const {
  const OperatorModel* model = answer_for(config).model;
  if (model == nullptr) {
    return false;
  }
  const auto& trained = model->record().hardware_rows;
  return !trained.empty() && std::none_of(trained.begin(), trained.end(), [&](const auto& entry) {
    return entry.first == hardware_.name;
  });
}

std::optional<double> OperatorPredictor::output_quantile(const OperatorConfig& config) const {
  const OperatorModel* model = answer_for(config).model;
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
