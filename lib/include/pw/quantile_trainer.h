#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "pw/dataset.h"
#include "pw/model_record.h"
#include "pw/trainer.h"

namespace pw {

// Quantiles are of performance: the quantile 0.8 is the overall_perf that 80 % of the measured rows
// do not exceed, a ceiling. It is the quantile 1 - 0.8 of the duration.
struct QuantileOptions {
  std::vector<double> quantiles = {0.8};  // the first one is the model's output
  // Share of the rows, whole problems, that the ensemble is calibrated on and not fitted to.
  double calibration_fraction = 0.4;
  // Where the data set has groups to hold out: in how many parts they are held out in turn.
  std::int64_t hold_out_folds = 4;
};

// The published quantile model: the published network with the pinball loss of options.quantile on
// overall_perf, fitted on all rows; the epoch of the smallest training loss is kept. Validation,
// scheduler and early stopping of the options are not used.
// Source: spec of the published training, "Quantile model".
TrainingRun run_mlp_quantile_training(const Dataset& train, const MlpOptions& options,
                                      const std::filesystem::path& output,
                                      const ProgressCallback& progress, const RunControl& control);

// Several quantiles of ln(duration / bound) in one ensemble whose outputs cannot cross, each
// shifted so that it holds on rows that a fit has not seen. The record has the coverage on held-out
// rows and, where the data set has groups to hold out, on rows of groups that a fit has not seen.
// Of the options validation_fraction and refit are not used. A run that was stopped writes nothing.
TrainingRun run_log_ratio_quantile_training(const Dataset& train, const RatioOptions& options,
                                            const QuantileOptions& quantiles,
                                            const std::filesystem::path& output,
                                            const ProgressCallback& progress,
                                            const RunControl& control);

// Which share of the rows does not exceed each quantile of the model: over all rows, then per GPU.
// Needs no LibTorch.
LabelledCoverage evaluate_coverage(const OperatorModel& model, const Dataset& data,
                                   const std::string& label);

}  // namespace pw
