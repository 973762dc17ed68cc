#include "checkpoint_archive.h"

#include <map>
#include <string_view>

#include "io/files.h"
#include "io/sha256.h"
#include "model_metadata.h"
#include "pw/checkpoint.h"

namespace pw {
namespace {

constexpr std::string_view kPickleProtocol2 = "\x80\x02";  // how a .pth of torch < 1.6 begins

std::string without_top_folder(const std::string& member) {
  return member.substr(member.find('/') + 1);
}

[[noreturn]] void refuse_state_dict(const std::string& file) {
  throw DataError(file +
                  " is a Python state_dict/checkpoint, not TorchScript; convert it with "
                  "pw-train import");
}

ZipArchive open_archive(const std::string& bytes, const std::string& file) {
  if (bytes.substr(0, kPickleProtocol2.size()) == kPickleProtocol2) {
    refuse_state_dict(file);
  }
  try {
    return ZipArchive(bytes, file);
  } catch (const DataError&) {
    throw DataError("cannot load " + file + ": not a complete TorchScript archive (" +
                    std::to_string(bytes.size()) + " bytes)");
  }
}

void check_is_script(const ZipArchive& archive, const std::string& file) {
  if (!archive.has("constants.pkl")) {
    if (archive.has("data.pkl")) {
      refuse_state_dict(file);
    }
    throw DataError(file + " is a ZIP archive without a TorchScript module in it");
  }
}

bool is_ours(const ZipArchive& archive) {
  return archive.has(std::string("extra/") + kRecordMember) &&
         archive.has(std::string("extra/") + kChecksumMember);
}

// LibTorch loads changed weights without complaint.
void check_crcs(const ZipArchive& archive, const std::string& file) {
  for (const auto& [name, content] : archive.members()) {
    if (archive.crc_matches(name)) continue;
    throw DataError(file + ": the content of " + name +
                    " has changed since it was written (its CRC-32 differs); copy or save the file "
                    "again");
  }
}

void read_foreign(const std::filesystem::path& path, const ZipArchive& archive,
                  const ForeignModule& foreign, CheckpointFile& checkpoint) {
  if (foreign.model_name.empty() || !foreign.input_transform) {
    throw DataError(path.string() +
                    " is TorchScript without our record: no checkpoint of pw-train; to use "
                    "somebody else's module give --operator NAME and --input-transform none|log1p");
  }
  check_crcs(archive, path.string());
  checkpoint.record = foreign_record(path, foreign.model_name);
  checkpoint.foreign_transform = foreign.input_transform;
}

void check_unchanged(const ZipArchive& archive, const std::string& file) {
  const std::string_view stored = archive.member(std::string("extra/") + kChecksumMember);
  const std::string found = archive_checksum(archive);
  if (found != stored) {
    throw DataError(file + ": the content has changed since it was written (checksum " + found +
                    ", expected " + std::string(stored) + "); copy or train it again");
  }
}

}  // namespace

std::string archive_checksum(const ZipArchive& archive) {
  std::map<std::string, std::string_view> members;
  for (const auto& [name, content] : archive.members()) {
    members.emplace(without_top_folder(name), content);
  }
  members.erase(std::string("extra/") + kChecksumMember);
  members.erase(".data/serialization_id");
  std::string text;
  for (const auto& [name, content] : members) {
    text += name + '\n' + std::to_string(content.size()) + '\n';
    text += content;
  }
  return sha256_hex(text);
}

CheckpointFile read_checkpoint_file(const std::filesystem::path& path,
                                    const ForeignModule& foreign) {
  const std::string file = path.string();
  CheckpointFile checkpoint;
  checkpoint.bytes = read_file(path);
  const ZipArchive archive = open_archive(checkpoint.bytes, file);
  check_is_script(archive, file);
  if (!is_ours(archive)) {
    read_foreign(path, archive, foreign, checkpoint);
    return checkpoint;
  }
  check_unchanged(archive, file);
  checkpoint.record =
      parse_record(std::string(archive.member(std::string("extra/") + kRecordMember)),
                   file + ": " + kRecordMember);
  feature_columns(checkpoint.record, file);
  return checkpoint;
}

ModelRecord read_checkpoint_record(const std::filesystem::path& path,
                                   const ForeignModule& foreign) {
  return read_checkpoint_file(path, foreign).record;
}

InputTransform parse_input_transform(std::string_view text) {
  if (text == "none") return InputTransform::none;
  if (text == "log1p") return InputTransform::log1p;
  throw DataError("input transform '" + std::string(text) + "', expected none or log1p");
}

}  // namespace pw
