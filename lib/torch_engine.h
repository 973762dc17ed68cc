#pragma once

#include <memory>
#include <string>

#include "checkpoint_archive.h"

namespace pw {

struct TorchTraining;   // model/torch_training.h
struct TorchProfiling;  // profile/torch_profiling.h

// What the library with LibTorch in it exports under kTorchEngineSymbol. Both sides must be of the
// same version, as everything between them is C++.
struct TorchEngine {
  const char* version;
  // As load_network() in model/load_network.h.
  std::unique_ptr<OperatorModel> (*load)(CheckpointFile file, const std::string& origin);
  const TorchTraining* training;
  const TorchProfiling* profiling;
  // That of io/files.h: the library has its own copy, and writes checkpoints.
  void (*end_between_writes)(void (*end)());
};
inline constexpr char kTorchEngineFile[] = "libpw_torch_engine.so";
inline constexpr char kTorchEngineSymbol[] = "pw_torch_engine";

// The engine, loaded at the first call, which takes some 0.4 s: LibTorch is large. Throws DataError
// that begins with `purpose` and lists the places that were looked at when there is none.
const TorchEngine& torch_engine(const std::string& purpose);

}  // namespace pw
