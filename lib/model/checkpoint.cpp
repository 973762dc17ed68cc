#include "pw/checkpoint.h"

#include <sstream>

#include <torch/script.h>

#include "checkpoint_archive.h"
#include "model/script_model.h"
#include "model/threads.h"

namespace pw {
namespace {

torch::jit::Module load_module(const std::string& bytes, const std::string& file) {
  std::istringstream stream(bytes);
  try {
    return torch::jit::load(stream, torch::kCPU);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    throw DataError("cannot load " + file + " with LibTorch " TORCH_VERSION ": " +
                    reason.substr(0, reason.find('\n')));
  }
}

}  // namespace

std::unique_ptr<OperatorModel> load_checkpoint(const std::filesystem::path& path) {
  set_torch_threads(1);
  CheckpointFile checkpoint = read_checkpoint_file(path);
  torch::jit::Module module = load_module(checkpoint.bytes, path.string());
  return std::make_unique<ScriptModel>(std::move(module), std::move(checkpoint.record),
                                       path.string());
}

}  // namespace pw
