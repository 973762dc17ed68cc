#pragma once

#include <memory>
#include <string>

#include "checkpoint_archive.h"

namespace pw {

// The network of a checkpoint that has been read, evaluated by LibTorch. `origin` names the file in
// messages. Throws DataError as load_checkpoint().
std::unique_ptr<OperatorModel> load_network(CheckpointFile file, const std::string& origin);

}  // namespace pw
