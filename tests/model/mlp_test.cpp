#include "model/mlp.h"

#include <cmath>

#include <gtest/gtest.h>

namespace pw {
namespace {

std::int64_t parameter_count(const Mlp& mlp) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : mlp->parameters()) {
    count += parameter.numel();
  }
  return count;
}

// Counts and initialisation: spec of the published model.
TEST(Mlp, IsThePublishedNetwork) {
  EXPECT_EQ(parameter_count(Mlp(11)), 45185);
  EXPECT_EQ(parameter_count(Mlp(15)), 46209);
  for (const auto& [name, tensor] : named_tensors(*Mlp(11))) {
    if (name == "network.4.weight") {
      EXPECT_EQ(tensor.sizes(), (torch::IntArrayRef{128, 256}));
      EXPECT_LE(tensor.abs().max().item<double>(), 1.0 / 16);
      EXPECT_GT(tensor.abs().max().item<double>(), 0.99 / 16);
    } else if (name == "network.6.weight" || name == "network.6.running_var") {
      EXPECT_TRUE(torch::equal(tensor, torch::ones({128}))) << name;
    } else if (name == "network.6.bias" || name == "network.6.running_mean") {
      EXPECT_TRUE(torch::equal(tensor, torch::zeros({128}))) << name;
    }
  }
}

TEST(Mlp, DropsOutInTrainingModeOnly) {
  Mlp mlp(11);
  int calls = 0;
  const auto count = [&](const torch::Tensor& x) {
    ++calls;
    return x;
  };
  const torch::Tensor x = torch::rand({4, 11});
  mlp->eval();
  EXPECT_EQ(mlp->forward(x, count).sizes(), torch::IntArrayRef{4});
  EXPECT_EQ(calls, 0);
  mlp->train();
  mlp->forward(x, count);
  EXPECT_EQ(calls, 3);
}

TEST(Mlp, ScriptTakesRawFeatures) {
  Mlp mlp(15);
  mlp->train();
  mlp->forward(torch::rand({64, 15}));  // moves the running statistics off their start
  mlp->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor raw = torch::rand({8, 15}) * 1e6;
  const torch::Tensor expected = mlp->forward(torch::log1p(raw));
  torch::jit::Module script = to_torch_script(*mlp);
  const torch::Tensor found = script.forward({raw}).toTensor();
  EXPECT_TRUE(torch::allclose(found, expected, 1e-6, 1e-7));
}

}  // namespace
}  // namespace pw
