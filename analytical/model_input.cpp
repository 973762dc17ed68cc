#include "pw/model_input.h"

#include <cmath>

namespace pw {

std::string_view to_string(ModelKind kind) {
  return kind == ModelKind::efficiency ? "efficiency" : "log_ratio";
}

ModelKind parse_model_kind(std::string_view text) {
  for (const ModelKind kind : {ModelKind::efficiency, ModelKind::log_ratio}) {
    if (text == to_string(kind)) {
      return kind;
    }
  }
  throw DataError("model kind '" + std::string(text) + "', expected efficiency or log_ratio");
}

std::vector<std::string> feature_names(const OperatorFamily& family, ModelKind kind) {
  std::vector<std::string> names;
  if (kind == ModelKind::log_ratio) {
    names.assign(family.ratio_names->begin(), family.ratio_names->end());
    return names;
  }
  for (const Feature& feature : *family.features) {
    names.emplace_back(feature.name);
  }
  return names;
}

ModelInput efficiency_input(const PipelineFeatures& pipes, const OperatorFamily& family,
                            const HardwareSpec& hardware) {
  ModelInput input;
  input.features.reserve(family.features->size());
  for (const Feature& feature : *family.features) {
    input.features.push_back(feature.of(pipes));
  }
  // The published prediction path rounds cycles to float like every feature.
  input.reference_us = ideal_cycles<float>(pipes) / hardware.sm_freq_mhz;
  return input;
}

OperatorInputs::OperatorInputs(const OperatorConfig& config, ModelKind kind,
                               const AnalysisOptions& options,
                               std::optional<double> measured_copies)
    : config_(config),
      kind_(kind),
      options_(options),
      copies_(measured_copies ? *measured_copies : operand_copies(config).value_or(1)) {
  const auto* attention = std::get_if<AttentionConfig>(&config);
  if (attention != nullptr && kind == ModelKind::log_ratio) {
    sums_ = sum_requests(*attention);
  }
}

ModelInput OperatorInputs::on(const HardwareSpec& hardware) const {
  if (kind_ == ModelKind::efficiency) {
    return efficiency_input(analyze_operator(config_, hardware, options_), operator_family(config_),
                            hardware);
  }
  RatioFeatures found = sums_
                            ? ratios(std::get<AttentionConfig>(config_), *sums_, copies_, hardware)
                            : operator_ratios(config_, copies_, hardware);
  return {std::move(found.values), found.bound_us, found.reused};
}

ModelInput model_input(const OperatorConfig& config, const HardwareSpec& hardware, ModelKind kind,
                       const AnalysisOptions& options, std::optional<double> measured_copies) {
  return OperatorInputs(config, kind, options, measured_copies).on(hardware);
}

double output_of(ModelKind kind, double duration_us, double reference_us) {
  return kind == ModelKind::efficiency ? reference_us / duration_us
                                       : std::log(duration_us / reference_us);
}

double duration_us_of(ModelKind kind, double output, double reference_us) {
  return kind == ModelKind::efficiency ? reference_us / output : reference_us * std::exp(output);
}

}  // namespace pw
