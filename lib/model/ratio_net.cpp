#include "model/ratio_net.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <torch/script.h>

#include "io/json_file.h"

namespace pw {
namespace {

std::string weight_name(std::size_t layer) { return "weight" + std::to_string(layer); }
std::string bias_name(std::size_t layer) { return "bias" + std::to_string(layer); }

// Below it an increment counts as this much: softplus has no finite inverse of zero.
constexpr double kSmallestStep = 1e-3;

// One member as a module of its own, with forward(standardised) -> [rows, outputs].
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
  if (parameters.back().size(0) > 1) {
    source << "x = torch.cat([x[:, :1], -torch.softplus(x[:, 1:])], 1).cumsum(1)\n    ";
  }
  source << "return x\n";
  script.define(source.str());
  return script;
}

}  // namespace

RatioNetImpl::RatioNetImpl(std::int64_t features, const std::vector<std::int64_t>& hidden_widths,
                           std::int64_t outputs) {
  std::int64_t width = features;
  for (const std::int64_t next : hidden_widths) {
    linears_.emplace_back(width, next);
    width = next;
  }
  linears_.emplace_back(width, outputs);
  for (std::size_t layer = 0; layer < linears_.size(); ++layer) {
    register_module("linear" + std::to_string(layer), linears_[layer]);
  }
}

torch::Tensor RatioNetImpl::forward(torch::Tensor x) {
  for (std::size_t layer = 0; layer + 1 < linears_.size(); ++layer) {
    x = torch::relu(linears_[layer]->forward(x));
  }
  x = linears_.back()->forward(x);
  return x.size(1) == 1
             ? x
             : torch::cat({x.slice(1, 0, 1), -torch::softplus(x.slice(1, 1))}, 1).cumsum(1);
}

void RatioNetImpl::set_output_levels(const std::vector<double>& levels) {
  const torch::NoGradGuard no_grad;
  torch::Tensor bias = linears_.back()->bias;
  bias[0] = levels[0];
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const double step = std::max(levels[i - 1] - levels[i], kSmallestStep);
    bias[static_cast<std::int64_t>(i)] = std::log(std::expm1(step));
  }
}

torch::jit::Module ensemble_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling) {
  torch::jit::Module script("__torch__.RatioEnsemble");
  script.register_attribute("training", c10::BoolType::get(), false);
  script.register_buffer("low", scaling.low.clone());
  script.register_buffer("high", scaling.high.clone());
  script.register_buffer("mean", scaling.mean.clone());
  script.register_buffer("std", scaling.std.clone());
  std::ostringstream source;
  source << "def ensemble_mean(self, features: Tensor) -> Tensor:\n"
         << "    x = torch.minimum(torch.maximum(features, self.low), self.high)\n"
         << "    x = (x - self.mean) / self.std\n";
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string name = "member" + std::to_string(i);
    script.register_module(name, script_of(*members[i]));
    source << "    y" << (i == 0 ? " = " : " = y + ") << "self." << name << ".forward(x)\n";
  }
  source << "    return y / " << members.size() << "\n";
  script.define(source.str());
  return script;
}

std::string clamp_call(const std::string& value, const RatioScaling& scaling) {
  return "torch.clamp(" + value + ", " + python_repr(scaling.output_low) + ", " +
         python_repr(scaling.output_high) + ")";
}

torch::jit::Module to_torch_script(const std::vector<RatioNet>& members,
                                   const RatioScaling& scaling) {
  torch::jit::Module script = ensemble_script(members, scaling);
  script.define("def forward(self, features: Tensor) -> Tensor:\n    return " +
                clamp_call("self.ensemble_mean(features).squeeze(1)", scaling) + "\n");
  return script;
}

}  // namespace pw
