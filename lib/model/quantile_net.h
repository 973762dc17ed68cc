#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/ratio_net.h"

namespace pw {

// What turns the outputs of an ensemble of falling outputs into calibrated quantiles: shifts that
// are added to each output, of their own for each GPU that the features can tell.
struct QuantileCalibration {
  std::vector<std::int64_t> columns;  // features that say which GPU it is; may be empty
  torch::Tensor keys;                 // [GPUs, columns], their values, each row different
  torch::Tensor shifts;               // [GPUs + 1, outputs]; the last row is for all other GPUs
};

// TorchScript with two methods: quantiles(raw float32 features [rows, features]) -> ln(duration /
// bound) [rows, outputs], which never rises from one output to the next, and forward(raw features)
// -> output `main` of them [rows].
torch::jit::Module quantile_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling,
                                   const QuantileCalibration& calibration, std::int64_t main);

// How many rows it takes to calibrate the highest of the coverages: 1 / (1 - coverage) - 1.
std::int64_t calibration_rows_needed(const std::vector<double>& coverages);

// Conformal calibration on rows that the ensemble was not fitted on: for each output the shift with
// which at least the share `coverage` of new rows of the same kind has a target at or above the
// lowest of it and the outputs before it.
// `predicted`: [rows, outputs], `targets`: [rows], as many as are needed.
torch::Tensor conformal_shifts(const torch::Tensor& predicted, const torch::Tensor& targets,
                               const std::vector<double>& coverages);

// The shifts of all rows together and of each GPU on its own. `gpus`: [rows], equal for rows of the
// same GPU. GPUs are told by the features that are the same in all rows of a GPU; GPUs that differ
// in none of them share their shifts, and one with too few rows gets those of all.
QuantileCalibration calibrate(const torch::Tensor& features, const torch::Tensor& predicted,
                              const torch::Tensor& targets, const torch::Tensor& gpus,
                              const std::vector<double>& coverages);

}  // namespace pw
