#include "torch_engine.h"

#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>

#include "comma_list.h"
#include "io/files.h"
#include "program_location.h"
#include "pw/fields.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// Beside the programs in a build, below the libraries when installed.
std::vector<fs::path> possible_files() {
  std::vector<fs::path> files;
  for (const fs::path& folder : program_folders()) files.push_back(folder / kTorchEngineFile);
  for (const fs::path& prefix : install_prefixes()) {
    files.push_back(prefix / PW_INSTALL_LIBDIR / "pw" / kTorchEngineFile);
  }
  return files;
}

const TorchEngine& open_engine(const fs::path& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded to the end
  void* symbol = library == nullptr ? nullptr : dlsym(library, kTorchEngineSymbol);
  if (symbol == nullptr) throw DataError("cannot load LibTorch: " + std::string(dlerror()));
  const auto& engine = *static_cast<const TorchEngine*>(symbol);
  if (std::string(engine.version) != PW_VERSION) {
    throw DataError(file.string() + " is of version " + engine.version +
                    ", expected " PW_VERSION ": install both from one build");
  }
  return engine;
}

}  // namespace

const TorchEngine& torch_engine(const std::string& purpose) {
  static const TorchEngine* engine = nullptr;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::vector<std::string> tried;
  for (const fs::path& file : possible_files()) {
    if (engine != nullptr) break;
    std::error_code error;
    if (fs::exists(file, error)) {
      engine = &open_engine(file);
      end_between_writes_of(engine->end_between_writes);
    }
    tried.push_back(file.string());
  }
  if (engine == nullptr) {
    throw DataError(purpose + " needs LibTorch, but there is no " + kTorchEngineFile + "; tried " +
                    comma_list(tried) +
                    ": run scripts/build, or build and install with -DPW_TORCH=ON");
  }
  return *engine;
}

}  // namespace pw
