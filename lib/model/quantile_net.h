#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/ratio_net.h"

namespace pw {

// What turns the outputs of an ensemble of falling outputs into calibrated quantiles.
struct QuantileOutputs {
  std::vector<double> shifts;  // added to each output
  std::int64_t main = 0;       // the output that forward() gives
};

// TorchScript with two methods: quantiles(raw float32 features [rows, features]) -> ln(duration /
// bound) [rows, outputs], which never rises from one output to the next, and forward(raw features)
// -> the main one of them [rows].
torch::jit::Module quantile_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling, const QuantileOutputs& outputs);

// Conformal calibration on rows that the ensemble was not fitted on: for each output the shift with
// which at least the share `coverage` of new rows of the same kind has a target at or above it.
// `predicted`: [rows, outputs], `targets`: [rows]. Throws DataError when there are too few rows for
// a coverage, 1 / (1 - coverage) - 1 at least.
std::vector<double> conformal_shifts(const torch::Tensor& predicted, const torch::Tensor& targets,
                                     const std::vector<double>& coverages);

}  // namespace pw
