#include "checkpoint_archive.h"

#include <map>
#include <string_view>

#include "io/files.h"
#include "io/sha256.h"
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

void check_is_ours(const ZipArchive& archive, const std::string& file) {
  if (!archive.has("constants.pkl")) {
    if (archive.has("data.pkl")) {
      refuse_state_dict(file);
    }
    throw DataError(file + " is a ZIP archive without a TorchScript module in it");
  }
  for (const char* member : {kRecordMember, kChecksumMember}) {
    if (!archive.has(std::string("extra/") + member)) {
      throw DataError(file + " is TorchScript without our record (" + member +
                      "), expected a checkpoint that pw-train wrote");
    }
  }
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

CheckpointFile read_checkpoint_file(const std::filesystem::path& path) {
  const std::string file = path.string();
  CheckpointFile checkpoint;
  checkpoint.bytes = read_file(path);
  const ZipArchive archive = open_archive(checkpoint.bytes, file);
  check_is_ours(archive, file);
  check_unchanged(archive, file);
  checkpoint.record =
      parse_record(std::string(archive.member(std::string("extra/") + kRecordMember)),
                   file + ": " + kRecordMember);
  feature_columns(checkpoint.record, file);
  return checkpoint;
}

ModelRecord read_checkpoint_record(const std::filesystem::path& path) {
  return read_checkpoint_file(path).record;
}

}  // namespace pw
