#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/ratio_net.h"
#include "model/training_record.h"
#include "pw/dataset.h"
#include "pw/trainer.h"

namespace pw {

constexpr double kClipShare = 0.0005;  // of the training rows at each end of a feature

void check_options(const RatioOptions& options);
NamedValues options_of(const RatioOptions& options);

// Rows of a data set as tensors: raw features [rows, features] and ln(duration / bound) [rows].
struct RatioPart {
  torch::Tensor features;
  torch::Tensor targets;
};
RatioPart make_ratio_part(const Dataset& data, const std::vector<std::int64_t>& rows);

// Ranges and moments of a part. The clip ranges leave out the outermost `clip_share` of the rows
// at each end.
RatioScaling scaling_of(const RatioPart& part, double clip_share);

// An ensemble fitted on the part: members differ in initial weights, order and noise alone.
// `levels`: the quantiles of the target that the outputs are to be, falling; the median by default,
// whose loss is the absolute error.
std::vector<RatioNet> fit_ensemble(const RatioPart& part, const RatioScaling& scaling,
                                   const RatioOptions& options, const ProgressCallback& progress,
                                   const std::vector<double>& levels = {0.5});

// The learning rate of step `step` of `steps`: cosine from 1/25 of the maximum up over `warm_up` of
// the steps, then cosine down to almost nothing.
double one_cycle_rate(std::int64_t step, std::int64_t steps, double warm_up, double maximum);

}  // namespace pw
