#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "io/pickle_tensor.h"

namespace pw {

// What the original's torch.save wrote: spec/analytical.md, "Checkpoint file (.pth)".
struct StateDict {
  std::map<std::string, StateTensor> tensors;  // "network.0.weight"
  std::int64_t epoch = 0;
  double train_loss = 0;
  std::optional<double> validation_loss;  // absent in quantile checkpoints
};

// Reads a .pth file, saved from CUDA or not, without LibTorch and without running its pickle: only
// the opcodes and globals of a plain state dict are known, anything else is refused with DataError.
StateDict read_state_dict(const std::filesystem::path& path);

}  // namespace pw
