#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/operators.h"

namespace pw {

// What a network's output means.
enum class ModelKind {
  efficiency,  // overall_perf: the fraction of the bounding pipe's rate (the published models)
  log_ratio,   // ln(duration / roofline bound)
};
std::string_view to_string(ModelKind kind);
ModelKind parse_model_kind(std::string_view text);

// The features of a family's models, in model-input order: pipeline features or ratio features.
std::vector<std::string> feature_names(const OperatorFamily& family, ModelKind kind);

// What a network sees of an operator on a GPU, and the duration that its output is relative to.
struct ModelInput {
  std::vector<double> features;                        // as feature_names
  double reference_us = 0;                             // at overall_perf 1; or the roofline bound
  std::optional<ReusedOperand> reused = std::nullopt;  // of log_ratio models
};
ModelInput model_input(const OperatorConfig& config, const HardwareSpec& hardware, ModelKind kind,
                       const AnalysisOptions& options,
                       std::optional<double> measured_copies = std::nullopt);
// The same of one operator on several GPUs, without computing again what they share. The config
// must outlive it. `measured_copies`: those of the rows that a log_ratio model was fitted on;
// absent for the config's own.
class OperatorInputs {
 public:
  OperatorInputs(const OperatorConfig& config, ModelKind kind, const AnalysisOptions& options,
                 std::optional<double> measured_copies = std::nullopt);

  ModelInput on(const HardwareSpec& hardware) const;

 private:
  const OperatorConfig& config_;
  ModelKind kind_;
  AnalysisOptions options_;
  double copies_;
  std::optional<AttentionSums> sums_;
};
// The same for pipeline features that are already there.
ModelInput efficiency_input(const PipelineFeatures& pipes, const OperatorFamily& family,
                            const HardwareSpec& hardware);

// The two directions of one formula per kind.
double output_of(ModelKind kind, double duration_us, double reference_us);
double duration_us_of(ModelKind kind, double output, double reference_us);

}  // namespace pw
