#include "model/device.h"

namespace pw {

torch::Device torch_device(Device device) {
  if (device == Device::cuda && !torch::cuda::is_available()) {
    throw DataError("LibTorch " TORCH_VERSION
                    " finds no CUDA here: choose the device cpu, or build with a LibTorch for CUDA "
                    "on a machine with an NVIDIA GPU");
  }
  return device == Device::cpu ? torch::kCPU : torch::kCUDA;
}

}  // namespace pw
