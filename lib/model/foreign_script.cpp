#include "model/foreign_script.h"

#include "model/script_model.h"
#include "pw/fields.h"

namespace pw {
namespace {

void cast_to_float32(torch::jit::Module& module) {
  const auto cast = [](torch::Tensor tensor) {
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(torch::kFloat32));
  };
  for (const torch::Tensor& parameter : module.parameters()) cast(parameter);
  for (const torch::Tensor& buffer : module.buffers()) cast(buffer);
}

std::string forward_code(InputTransform transform) {
  const std::string input =
      transform == InputTransform::log1p ? "torch.log1p(features)" : "features";
  return "def forward(self, features):\n"
         "    output = self.module.forward(" +
         input +
         ").float()\n"
         "    if output.dim() == 2:\n"
         "        output = output.squeeze(1)\n"
         "    return output\n";
}

}  // namespace

torch::jit::Module in_our_form(torch::jit::Module foreign, InputTransform transform,
                               const std::string& origin) {
  cast_to_float32(foreign);
  torch::jit::Module module("ForeignModel");
  module.register_module("module", std::move(foreign));
  try {
    module.define(forward_code(transform));
  } catch (const std::exception& error) {
    throw DataError(origin + ": expected a module that gives one tensor for one tensor: " +
                    short_reason(error.what()));
  }
  return module;
}

}  // namespace pw
