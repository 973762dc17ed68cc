#pragma once

#include <string>

#include <torch/script.h>

#include "pw/foreign_module.h"

namespace pw {

// A module of somebody else in the form of ours: float32 whatever type its weights have, from raw
// features, one output per row where it gives a column of them. Throws DataError when it does not
// give one tensor for one tensor.
torch::jit::Module in_our_form(torch::jit::Module foreign, InputTransform transform,
                               const std::string& origin);

}  // namespace pw
