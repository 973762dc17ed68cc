#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/foreign_module.h"
#include "pw/operator_predictor.h"

namespace pw {

// What evaluates a checkpoint's network. The native engine knows the networks that pw-train writes.
// LibTorch knows every TorchScript module, but takes long to start: it is in a library of its own
// that is loaded when it is first needed.
enum class NetworkEngine {
  automatic,  // native, LibTorch for networks that the native engine does not know
  native,
  torch,
};
NetworkEngine parse_network_engine(std::string_view text);  // "auto", "native", "torch"

// Reads a checkpoint, or a module of somebody else, after the checks of read_checkpoint_record().
// Throws DataError for anything else, and when its network needs LibTorch but the engine asked
// for is native or LibTorch's library is missing.
LoadedModel load_model(const std::filesystem::path& path,
                       NetworkEngine engine = NetworkEngine::automatic,
                       const ForeignModule& foreign = {});

// Where the models of some operator families are looked for.
struct ModelFiles {
  std::filesystem::path folder;                        // of <name>.pt
  std::map<std::string, std::filesystem::path> given;  // by name, instead of the folder's
  // Of given files that are not ours.
  std::optional<InputTransform> input_transform = std::nullopt;
};
// The checkpoints of `families` under the names of ModelSet; no other file is read. A family
// without one is left out. Throws DataError like load_model, and for a model of another operator.
ModelSet load_models(const ModelFiles& files, const std::vector<std::string>& families,
                     NetworkEngine engine = NetworkEngine::automatic);
// The names under which models of a family may stand: {"attn", "attn_ragged", "attn_paged"}.
std::vector<std::string> model_names_of(const std::string& family);

}  // namespace pw
