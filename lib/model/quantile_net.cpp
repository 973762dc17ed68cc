#include "model/quantile_net.h"

#include <cmath>
#include <sstream>

#include <torch/script.h>

#include "io/json_file.h"

namespace pw {
namespace {

// The smallest residual that leaves the share `coverage` of all rows, one yet unseen among them, at
// or above it: the k-th smallest of n with k = floor((n + 1)(1 - coverage)).
// Source: split conformal prediction, Vovk et al. 2005; Romano et al., arXiv 1905.03222.
double conformal_shift(const torch::Tensor& residuals, double coverage) {
  constexpr double kRounding = 1e-9;  // 1 - 0.8 is a little less than 0.2
  const std::int64_t rows = residuals.size(0);
  const auto place = static_cast<std::int64_t>(static_cast<double>(rows + 1) * (1 - coverage) +
                                               kRounding);
  if (place < 1) {
    throw DataError("quantile " + python_repr(coverage) + " cannot be calibrated on " +
                    std::to_string(rows) + " rows, expected at least " +
                    std::to_string(std::llround(std::ceil(1 / (1 - coverage) - 1 - kRounding))) +
                    ": give more rows or a lower quantile");
  }
  return std::get<0>(residuals.kthvalue(place)).item<double>();
}

}  // namespace

std::vector<double> conformal_shifts(const torch::Tensor& predicted, const torch::Tensor& targets,
                                     const std::vector<double>& coverages) {
  const torch::Tensor residuals = targets.unsqueeze(1) - predicted;
  std::vector<double> shifts;
  for (std::size_t i = 0; i < coverages.size(); ++i) {
    shifts.push_back(
        conformal_shift(residuals.select(1, static_cast<std::int64_t>(i)), coverages[i]));
  }
  return shifts;
}

torch::jit::Module quantile_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling, const QuantileOutputs& outputs) {
  torch::jit::Module script = ensemble_script(members, scaling);
  script.register_buffer("shift", torch::tensor(outputs.shifts, torch::kFloat32));
  // Shifts of their own may put one quantile past the next; the running minimum keeps their order.
  std::ostringstream source;
  source << "def quantiles(self, features: Tensor) -> Tensor:\n"
         << "    y = torch.cummin(self.ensemble_mean(features) + self.shift, 1)[0]\n"
         << "    return " << clamp_call("y", scaling) << "\n";
  script.define(source.str());
  script.define("def forward(self, features: Tensor) -> Tensor:\n    return self.quantiles(features)"
                "[:, " + std::to_string(outputs.main) + "].contiguous()\n");
  return script;
}

}  // namespace pw
