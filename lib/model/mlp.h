#pragma once

#include <functional>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace pw {

// The published network: three blocks Linear -> ReLU -> BatchNorm -> Dropout of widths 256, 128 and
// 64, then Linear(64, 1) -> Sigmoid. Parameters and buffers carry the published names
// ("network.0.weight"), and a fresh network the published initialisation: PyTorch's default.
class MlpImpl : public torch::nn::Module {
 public:
  explicit MlpImpl(std::int64_t features);

  // Called with the output of each block in training mode.
  using Dropout = std::function<torch::Tensor(const torch::Tensor&)>;

  // x: [rows, features] of log1p(raw feature). Returns overall_perf [rows]. BatchNorm uses the
  // batch when the module is in training mode (at least two rows), else its running statistics.
  torch::Tensor forward(torch::Tensor x, const Dropout& dropout = nullptr);

  std::int64_t features() const { return features_; }
  static std::vector<std::int64_t> hidden_widths();

 private:
  std::int64_t features_;
  std::vector<torch::nn::Linear> linears_;  // one more than norms_
  std::vector<torch::nn::BatchNorm1d> norms_;
};
TORCH_MODULE(Mlp);

std::int64_t parameters_of(const torch::nn::Module& module);

// All parameters and buffers under their published names.
std::vector<std::pair<std::string, torch::Tensor>> named_tensors(const MlpImpl& mlp);

// The network in inference form as TorchScript: forward(raw float32 features [rows, features]) ->
// overall_perf [rows], log1p included.
torch::jit::Module to_torch_script(const MlpImpl& mlp);

}  // namespace pw
