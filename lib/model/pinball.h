#pragma once

#include <torch/torch.h>

namespace pw {

// The loss whose minimum is the quantile `level` of the targets, element by element: with
// e = target - predicted, max((level - 1) e, level e). The three broadcast against each other.
inline torch::Tensor pinball(const torch::Tensor& predicted, const torch::Tensor& targets,
                             const torch::Tensor& level) {
  const torch::Tensor error = targets - predicted;
  return torch::maximum((level - 1) * error, level * error);
}

}  // namespace pw
