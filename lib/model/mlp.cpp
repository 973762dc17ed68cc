#include "model/mlp.h"

#include <torch/script.h>

namespace pw {
namespace {

constexpr std::int64_t kHiddenWidths[] = {256, 128, 64};
constexpr int kBlockSize = 4;    // Linear, ReLU, BatchNorm, Dropout: numbers in published names
constexpr int kNormInBlock = 2;  // BatchNorm's place in its block

// `member` is "weight"; the module's children are called by number, which only getattr can name.
std::string in_source(int number, const char* member) {
  return "getattr(self.network, '" + std::to_string(number) + "')." + member;
}

std::string linear_source(int number) {
  return "x = torch.linear(x, " + in_source(number, "weight") + ", " + in_source(number, "bias") +
         ")\n    ";
}

std::string norm_source(int number) {
  return "x = torch.batch_norm(x, " + in_source(number, "weight") + ", " +
         in_source(number, "bias") + ", " + in_source(number, "running_mean") + ", " +
         in_source(number, "running_var") + ", False, 0.1, 1e-05, False)\n    ";
}

std::string forward_source(int blocks) {
  std::string source = "def forward(self, features: Tensor) -> Tensor:\n    ";
  source += "x = torch.log1p(features)\n    ";
  for (int block = 0; block < blocks; ++block) {
    source += linear_source(block * kBlockSize);
    source += "x = torch.relu(x)\n    ";
    source += norm_source(block * kBlockSize + kNormInBlock);
  }
  source += linear_source(blocks * kBlockSize);
  source += "return torch.sigmoid(x).squeeze(1)\n";
  return source;
}

torch::jit::Module script_of(const torch::nn::Module& module, const std::string& name) {
  torch::jit::Module script("__torch__." + name);
  script.register_attribute("training", c10::BoolType::get(), false);
  for (const auto& parameter : module.named_parameters(false)) {
    script.register_parameter(parameter.key(), parameter.value().detach().clone(), false);
  }
  for (const auto& buffer : module.named_buffers(false)) {
    script.register_buffer(buffer.key(), buffer.value().clone());
  }
  for (const auto& child : module.named_children()) {
    script.register_module(child.key(), script_of(*child.value(), name + "_" + child.key()));
  }
  return script;
}

}  // namespace

MlpImpl::MlpImpl(std::int64_t features) : features_(features) {
  auto network = std::make_shared<torch::nn::Module>();
  std::int64_t width = features;
  int number = 0;
  for (const std::int64_t next : kHiddenWidths) {
    linears_.emplace_back(width, next);
    norms_.emplace_back(next);
    network->register_module(std::to_string(number), linears_.back());
    network->register_module(std::to_string(number + kNormInBlock), norms_.back());
    width = next;
    number += kBlockSize;
  }
  linears_.emplace_back(width, 1);
  network->register_module(std::to_string(number), linears_.back());
  register_module("network", network);
}

std::vector<std::int64_t> MlpImpl::hidden_widths() {
  return {std::begin(kHiddenWidths), std::end(kHiddenWidths)};
}

torch::Tensor MlpImpl::forward(torch::Tensor x, const Dropout& dropout) {
  for (std::size_t block = 0; block < norms_.size(); ++block) {
    x = norms_[block]->forward(torch::relu(linears_[block]->forward(x)));
    if (dropout && is_training()) {
      x = dropout(x);
    }
  }
  return torch::sigmoid(linears_.back()->forward(x)).squeeze(1);
}

std::int64_t parameters_of(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : module.parameters()) {
    count += parameter.numel();
  }
  return count;
}

std::vector<std::pair<std::string, torch::Tensor>> named_tensors(const MlpImpl& mlp) {
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
  for (const auto& parameter : mlp.named_parameters()) {
    tensors.emplace_back(parameter.key(), parameter.value());
  }
  for (const auto& buffer : mlp.named_buffers()) {
    tensors.emplace_back(buffer.key(), buffer.value());
  }
  return tensors;
}

torch::jit::Module to_torch_script(const MlpImpl& mlp) {
  torch::jit::Module script = script_of(mlp, "Mlp");
  script.define(forward_source(static_cast<int>(std::size(kHiddenWidths))));
  return script;
}

}  // namespace pw
