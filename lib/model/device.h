#pragma once

#include <torch/torch.h>

#include "pw/trainer.h"

namespace pw {

// Throws DataError when the LibTorch at hand cannot use the device.
torch::Device torch_device(Device device);

}  // namespace pw
