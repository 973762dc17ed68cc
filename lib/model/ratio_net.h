#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace pw {

// A plain network for log_ratio models: Linear and ReLU for each hidden width, then Linear to one.
class RatioNetImpl : public torch::nn::Module {
 public:
  RatioNetImpl(std::int64_t features, const std::vector<std::int64_t>& hidden_widths);

  torch::Tensor forward(torch::Tensor x);  // [rows, features] standardised -> [rows]
  void set_output_bias(double value);

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

}  // namespace pw
