#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pw {

inline std::string little_endian_bytes(std::uint64_t number, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i, number >>= 8) bytes += static_cast<char>(number);
  return bytes;
}

// CRC-32 bit by bit, on purpose by another way than the reader's table.
inline std::uint32_t slow_crc32(const std::string& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = ((crc ^ static_cast<std::uint32_t>(c) >> bit) & 1) != 0;
      crc = crc >> 1 ^ (carry ? 0xEDB88320u : 0u);
    }
  }
  return ~crc;
}

// One member of a ZIP archive to be written, with the fields that tests falsify.
struct ZipMember {
  std::string name;
  std::string content;
  unsigned method = 0;
  std::uint64_t extra_size = 0;  // added to the size in the central directory
  std::uint32_t crc_change = 0;
  std::uint64_t full_size = 0;  // decompressed; 0 = that of the content
};

// An archive as torch.save writes it: local headers without sizes and with padding, sizes in the
// central directory alone.
inline std::string write_zip(const std::vector<ZipMember>& members,
                             const std::string& comment = "") {
  const auto number = little_endian_bytes;
  std::string archive;
  std::string directory;
  for (const ZipMember& member : members) {
    const std::string padding = "FB" + number(7, 2) + std::string(7, 'Z');
    directory +=
        "PK\1\2" + number(0, 2) + number(0, 2) + number(0x0808, 2) + number(member.method, 2) +
        number(0, 4) + number(slow_crc32(member.content) ^ member.crc_change, 4) +
        number(member.content.size() + member.extra_size, 4) +
        number(member.full_size != 0 ? member.full_size : member.content.size() + member.extra_size,
               4) +
        number(member.name.size(), 2) + number(0, 2) + number(0, 2) + number(0, 8) +
        number(archive.size(), 4) + member.name;
    archive += "PK\3\4" + number(0, 2) + number(0x0808, 2) + number(member.method, 2) +
               number(0, 16) + number(member.name.size(), 2) + number(padding.size(), 2) +
               member.name + padding + member.content;
  }
  return archive + directory + "PK\5\6" + number(0, 4) + number(members.size(), 2) +
         number(members.size(), 2) + number(directory.size(), 4) + number(archive.size(), 4) +
         number(comment.size(), 2) + comment;
}

}  // namespace pw
