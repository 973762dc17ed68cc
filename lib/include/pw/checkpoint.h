#pragma once

#include <filesystem>
#include <memory>

#include "pw/foreign_module.h"
#include "pw/model_record.h"

namespace pw {

// Loads a TorchScript checkpoint (defined in pw_torch, which links LibTorch). Checks the file's own
// checksum, the format version, the feature names against the family, the width and the output
// shape. Throws DataError for everything else than a complete checkpoint of ours; a Python
// state_dict is refused with a pointer to `pw-train import`. Limits LibTorch to one thread in this
// process: whoever has more cores parallelises over work.
std::unique_ptr<OperatorModel> load_checkpoint(const std::filesystem::path& path);

// Reads the record alone, or makes that of a module of somebody else, after the same checks of the
// file (defined in pw_core: no network is built and LibTorch is not needed).
ModelRecord read_checkpoint_record(const std::filesystem::path& path,
                                   const ForeignModule& foreign = {});

// Converts the original's .pth and the metadata.json beside it (feature order, ranges, training
// hardware) into a checkpoint. Throws DataError when the two or the operator do not belong together
// and when the weights are not finite. Defined in pw_torch.
void import_state_dict(const std::filesystem::path& pth, const std::string& operator_name,
                       const std::filesystem::path& output);

// Writes the same network to `output`, its record telling how many sets of operands the training
// rows used in turn (pw/operand_copies.h), which records of before this was told lack. Throws
// DataError for less than 1 and for a checkpoint of another kind than log_ratio. Defined in
// pw_torch.
void record_operand_copies(const std::filesystem::path& checkpoint, double copies,
                           const std::filesystem::path& output);

}  // namespace pw
