#include "model/quantile_net.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <torch/script.h>

#include "io/json_file.h"

namespace pw {
namespace {

constexpr double kRounding = 1e-9;  // 1 - 0.8 is a little less than 0.2
constexpr double kSameKey = 1e-5;   // of features that are logarithms or shares, in float32

// The smallest residual that leaves the share `coverage` of all rows, one yet unseen among them, at
// or above it: the k-th smallest of n with k = floor((n + 1)(1 - coverage)).
// Source: split conformal prediction, Vovk et al. 2005; Romano et al., arXiv 1905.03222.
torch::Tensor conformal_shift(const torch::Tensor& residuals, double coverage) {
  const auto rows = static_cast<double>(residuals.size(0));
  const auto place = static_cast<std::int64_t>((rows + 1) * (1 - coverage) + kRounding);
  return std::get<0>(residuals.kthvalue(place));
}

// Features that have one value in all rows of each GPU, and not the same in all GPUs.
std::vector<std::int64_t> gpu_columns(const torch::Tensor& features, const torch::Tensor& gpus) {
  torch::Tensor constant = torch::ones({features.size(1)}, torch::kBool);
  for (std::int64_t gpu = 0; gpu <= gpus.max().item<std::int64_t>(); ++gpu) {
    const torch::Tensor rows = features.index({gpus == gpu});
    if (rows.size(0) > 0) {
      constant = constant & (rows == rows[0]).all(0);
    }
  }
  constant = constant & ~(features == features[0]).all(0);
  std::vector<std::int64_t> columns;
  for (std::int64_t column = 0; column < features.size(1); ++column) {
    if (constant[column].item<bool>()) {
      columns.push_back(column);
    }
  }
  return columns;
}

}  // namespace

std::int64_t calibration_rows_needed(const std::vector<double>& coverages) {
  const double highest = *std::max_element(coverages.begin(), coverages.end());
  return std::llround(std::ceil(1 / (1 - highest) - 1 - kRounding));
}

torch::Tensor conformal_shifts(const torch::Tensor& predicted, const torch::Tensor& targets,
                               const std::vector<double>& coverages) {
  const torch::Tensor residuals = targets.unsqueeze(1) - predicted;
  std::vector<torch::Tensor> shifts;
  torch::Tensor covered = torch::zeros({targets.size(0)}, torch::kBool);
  for (std::size_t i = 0; i < coverages.size(); ++i) {
    const torch::Tensor residual = residuals.select(1, static_cast<std::int64_t>(i));
    // What an earlier output covers stays covered whatever this one is.
    const torch::Tensor open = residual.masked_fill(covered, std::numeric_limits<float>::max());
    shifts.push_back(conformal_shift(open, coverages[i]));
    covered = covered | (residual >= shifts.back());
  }
  return torch::stack(shifts);
}

QuantileCalibration calibrate(const torch::Tensor& features, const torch::Tensor& predicted,
                              const torch::Tensor& targets, const torch::Tensor& gpus,
                              const std::vector<double>& coverages) {
  QuantileCalibration calibration;
  std::vector<torch::Tensor> known, shifts;
  const std::vector<std::int64_t> columns = gpu_columns(features, gpus);
  if (!columns.empty()) {
    const auto [keys, key_of_row, counts] =
        torch::unique_dim(features.index_select(1, torch::tensor(columns)), 0, true, true, true);
    for (std::int64_t key = 0; key < keys.size(0); ++key) {
      const torch::Tensor rows = key_of_row == key;
      if (counts[key].item<std::int64_t>() >= calibration_rows_needed(coverages)) {
        known.push_back(keys[key]);
        shifts.push_back(
            conformal_shifts(predicted.index({rows}), targets.index({rows}), coverages));
      }
    }
  }
  if (!known.empty()) {
    calibration.columns = columns;
    calibration.keys = torch::stack(known);
  }
  shifts.push_back(conformal_shifts(predicted, targets, coverages));
  calibration.shifts = torch::stack(shifts);
  return calibration;
}

torch::jit::Module quantile_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling,
                                   const QuantileCalibration& calibration, std::int64_t main) {
  torch::jit::Module script = ensemble_script(members, scaling);
  const std::int64_t gpus = calibration.shifts.size(0) - 1;
  script.register_buffer("shifts", calibration.shifts.slice(0, 0, gpus).clone());
  script.register_buffer("common_shift", calibration.shifts[gpus].clone());
  std::ostringstream source;
  source << "def quantiles(self, features: Tensor) -> Tensor:\n";
  if (gpus > 0) {
    script.register_buffer("columns", torch::tensor(calibration.columns, torch::kInt64));
    script.register_buffer("keys", calibration.keys.clone());
    source << "    gpu = torch.index_select(features, 1, self.columns).unsqueeze(1)\n"
           << "    known = (torch.abs(gpu - self.keys) < " << python_repr(kSameKey)
           << ").all(2).to(features.dtype)\n"
           << "    other = 1.0 - known.sum(1, keepdim=True)\n"
           << "    shift = known.mm(self.shifts) + other * self.common_shift\n";
  } else {
    source << "    shift = self.common_shift\n";
  }
  // Shifts of their own may put one quantile past the next; the running minimum keeps their order.
  source << "    y = torch.cummin(self.ensemble_mean(features) + shift, 1)[0]\n"
         << "    return " << clamp_call("y", scaling) << "\n";
  script.define(source.str());
  script.define(
      "def forward(self, features: Tensor) -> Tensor:\n"
      "    return self.quantiles(features)[:, " +
      std::to_string(main) + "].contiguous()\n");
  return script;
}

}  // namespace pw
