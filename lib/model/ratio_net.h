#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace pw {

// A plain network for log_ratio models: Linear and ReLU for each hidden width, then Linear to
// `outputs` numbers that fall by construction: the first as it is, each next one lower than the one
// before by the softplus of its own number.
class RatioNetImpl : public torch::nn::Module {
 public:
  RatioNetImpl(std::int64_t features, const std::vector<std::int64_t>& hidden_widths,
               std::int64_t outputs = 1);

  torch::Tensor forward(torch::Tensor x);  // [rows, features] standardised -> [rows, outputs]
  // The outputs of a network whose last weights are zero, not rising.
  void set_output_levels(const std::vector<double>& levels);

 private:
  std::vector<torch::nn::Linear> linears_;
};
TORCH_MODULE(RatioNet);

// What stands around the networks: inputs are clipped to the range of the training rows and
// standardised, the output is clipped, so that a network never extrapolates freely.
struct RatioScaling {
  torch::Tensor low, high;  // [features]
  torch::Tensor mean, std;  // [features], std > 0
  double output_low = 0, output_high = 0;
};

// The mean of the members as TorchScript: forward(raw float32 features [rows, features]) ->
// ln(duration / bound) [rows].
torch::jit::Module to_torch_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling);

// The same without a forward: ensemble_mean(raw features) -> [rows, outputs], not clipped yet.
torch::jit::Module ensemble_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling);
// TorchScript for `value` clipped to the range of the outputs.
std::string clamp_call(const std::string& value, const RatioScaling& scaling);

}  // namespace pw
