#include "pw/checkpoint.h"

#include <sstream>

#include <torch/script.h>

#include "io/files.h"
#include "model/foreign_script.h"
#include "model/load_network.h"
#include "model/script_model.h"
#include "model/threads.h"
#include "pw/operand_copies.h"

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

std::unique_ptr<OperatorModel> load_network(CheckpointFile file, const std::string& origin) {
  set_torch_threads(1);
  torch::jit::Module module = load_module(file.bytes, origin);
  if (file.foreign_transform) {
    module = in_our_form(std::move(module), *file.foreign_transform, origin);
  }
  return std::make_unique<ScriptModel>(std::move(module), std::move(file.record), origin);
}

void record_operand_copies(const std::filesystem::path& checkpoint, double copies,
                           const std::filesystem::path& output) {
  CheckpointFile file = read_checkpoint_file(checkpoint);
  if (file.record.kind != ModelKind::log_ratio) {
    throw DataError(checkpoint.string() + " is a model of kind " +
                    std::string(to_string(file.record.kind)) +
                    ", whose features do not see copies; expected log_ratio");
  }
  if (!is_copy_count(copies)) {
    throw UsageError("operand copies are " + std::to_string(copies) + ", expected 1 to 1e6");
  }
  file.record.operand_copies = copies;
  const torch::jit::Module module = load_module(file.bytes, checkpoint.string());
  write_file_atomic(output, checkpoint_bytes(module, file.record));
}

std::unique_ptr<OperatorModel> load_checkpoint(const std::filesystem::path& path) {
  return load_network(read_checkpoint_file(path), path.string());
}

}  // namespace pw
