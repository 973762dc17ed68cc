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
  // In so many parts, whole problems each, the rows are predicted by fits that have not seen them.
  // The calibration and the reported coverage come from these predictions.
  std::int64_t calibration_folds = 5;
  // Where the data set has groups to hold out: in how many parts they are held out in turn.
  std::int64_t hold_out_folds = 4;
};

// The published quantile model: the published network with the pinball loss of one quantile on
// overall_perf, fitted on all rows; the epoch of the smallest training loss is kept. Of the options
// validation, scheduler and early stopping are not used.
ModelRecord train_mlp_quantile(const Dataset& train, double quantile, const MlpOptions& options,
                               const std::filesystem::path& output,
                               const ProgressCallback& progress);

// Several quantiles of ln(duration / bound) in one ensemble whose outputs cannot cross, each shifted
// so that it holds on rows that a fit has not seen. The record has the coverage on held-out rows
// and, where the data set has groups to hold out, on rows of groups that a fit has not seen. Of the
// options validation_fraction and refit are not used.
ModelRecord train_log_ratio_quantiles(const Dataset& train, const RatioOptions& options,
                                      const QuantileOptions& quantiles,
                                      const std::filesystem::path& output,
                                      const ProgressCallback& progress);

// Which share of the rows does not exceed each quantile of the model: over all rows, then per GPU.
// Needs no LibTorch.
LabelledCoverage evaluate_coverage(const OperatorModel& model, const Dataset& data,
                                   const std::string& label);

}  // namespace pw
