#include "model/ratio_net.h"

#include <sstream>

#include <torch/script.h>

#include "io/json_file.h"

namespace pw {
namespace {

std::string weight_name(std::size_t layer) { return "weight" + std::to_string(layer); }
std::string bias_name(std::size_t layer) { return "bias" + std::to_string(layer); }

// One member as a module of its own, with forward(standardised) -> [rows].
torch::jit::Module script_of(const RatioNetImpl& member) {
  torch::jit::Module script("__torch__.RatioNet");
  script.register_attribute("training", c10::BoolType::get(), false);
  std::ostringstream source;
  source << "def forward(self, x: Tensor) -> Tensor:\n    ";
  const auto parameters = member.parameters();  // weight and bias of each layer in order
  const std::size_t layers = parameters.size() / 2;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    script.register_parameter(weight_name(layer), parameters[2 * layer].detach().clone(), false);
    script.register_parameter(bias_name(layer), parameters[2 * layer + 1].detach().clone(), false);
    source << "x = torch.linear(x, self." << weight_name(layer) << ", self." << bias_name(layer)
           << ")\n    ";
    if (layer + 1 < layers) {
      source << "x = torch.relu(x)\n    ";
    }
  }
  source << "return x.squeeze(1)\n";
  script.define(source.str());
  return script;
}

}  // namespace

RatioNetImpl::RatioNetImpl(std::int64_t features, const std::vector<std::int64_t>& hidden_widths) {
  std::int64_t width = features;
  for (const std::int64_t next : hidden_widths) {
    linears_.emplace_back(width, next);
    width = next;
  }
  linears_.emplace_back(width, 1);
  for (std::size_t layer = 0; layer < linears_.size(); ++layer) {
    register_module("linear" + std::to_string(layer), linears_[layer]);
  }
}

torch::Tensor RatioNetImpl::forward(torch::Tensor x) {
  for (std::size_t layer = 0; layer + 1 < linears_.size(); ++layer) {
    x = torch::relu(linears_[layer]->forward(x));
  }
  return linears_.back()->forward(x).squeeze(1);
}

void RatioNetImpl::set_output_bias(double value) {
  const torch::NoGradGuard no_grad;
  linears_.back()->bias.fill_(value);
}

torch::jit::Module to_torch_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling) {
  torch::jit::Module script("__torch__.RatioEnsemble");
  script.register_attribute("training", c10::BoolType::get(), false);
  script.register_buffer("low", scaling.low.clone());
  script.register_buffer("high", scaling.high.clone());
  script.register_buffer("mean", scaling.mean.clone());
  script.register_buffer("std", scaling.std.clone());
  std::ostringstream source;
  source << "def forward(self, features: Tensor) -> Tensor:\n"
         << "    x = torch.minimum(torch.maximum(features, self.low), self.high)\n"
         << "    x = (x - self.mean) / self.std\n";
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string name = "member" + std::to_string(i);
    script.register_module(name, script_of(*members[i]));
    source << "    y" << (i == 0 ? " = " : " = y + ") << "self." << name << ".forward(x)\n";
  }
  source << "    return torch.clamp(y / " << members.size() << ", "
         << python_repr(scaling.output_low) << ", " << python_repr(scaling.output_high) << ")\n";
  script.define(source.str());
  return script;
}

}  // namespace pw
