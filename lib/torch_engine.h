#pragma once

#include <memory>
#include <string>

#include "checkpoint_archive.h"

namespace pw {

// What the library with LibTorch in it exports under kTorchEngineSymbol. Both sides must be of the
// same version, as everything between them is C++.
struct TorchEngine {
  const char* version;
  // As load_network() in model/load_network.h.
  std::unique_ptr<OperatorModel> (*load)(CheckpointFile file, const std::string& origin);
};
inline constexpr char kTorchEngineFile[] = "libpw_torch_engine.so";
inline constexpr char kTorchEngineSymbol[] = "pw_torch_engine";

// The engine, loaded at the first call. Throws DataError that begins with `purpose` and lists the
// places that were looked at when there is none.
const TorchEngine& torch_engine(const std::string& purpose);

}  // namespace pw
