#pragma once

#include <filesystem>
#include <string>

#include "io/zip_archive.h"
#include "pw/foreign_module.h"
#include "pw/model_record.h"

namespace pw {

// Members that we add to a TorchScript archive ("extra files" of torch.jit).
inline constexpr char kRecordMember[] = "pw_record.json";
inline constexpr char kChecksumMember[] = "pw_checksum";

// A checkpoint whose archive is complete, whose checksum is right and whose record this program
// understands. The network itself is not looked at.
struct CheckpointFile {
  std::string bytes;
  ModelRecord record;
  // Of a module that is not ours. Ours transform their inputs themselves.
  std::optional<InputTransform> foreign_transform = std::nullopt;
};

// Throws DataError that tells what the file is instead: cut, no archive, a Python state_dict,
// changed bytes, a record that does not suit its operator, TorchScript without our record and not
// enough said about it in `foreign`.
CheckpointFile read_checkpoint_file(const std::filesystem::path& path,
                                    const ForeignModule& foreign = {});

// SHA-256 over names (without the top folder), sizes and bytes of all members in the order of their
// names; LibTorch loads changed weights without complaint. Two members are left out: the checksum
// itself, and the serialization id, which depends on it.
std::string archive_checksum(const ZipArchive& archive);

}  // namespace pw
