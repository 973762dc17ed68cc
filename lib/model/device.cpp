#include "model/device.h"

namespace pw {

std::string_view to_string(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

Device parse_device(std::string_view text) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    if (to_string(device) == text) {
      return device;
    }
  }
  throw DataError("device '" + std::string(text) + "', expected cpu or cuda");
}

torch::Device torch_device(Device device) {
  if (device == Device::cuda && !torch::cuda::is_available()) {
    throw DataError("LibTorch " TORCH_VERSION
                    " finds no CUDA here: choose the device cpu, or build with a LibTorch for CUDA "
                    "on a machine with an NVIDIA GPU");
  }
  return device == Device::cpu ? torch::kCPU : torch::kCUDA;
}

}  // namespace pw
