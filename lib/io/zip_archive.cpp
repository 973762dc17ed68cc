#include "io/zip_archive.h"

#include <array>

#include <zlib.h>

#include "io/little_endian.h"
#include "pw/fields.h"

// Layouts: PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (central directory) and
// 4.3.16 (end record). Offsets below are those of the fields in these records.

namespace pw {
namespace {

constexpr std::string_view kLocalHeader = "PK\3\4";
constexpr std::string_view kCentralEntry = "PK\1\2";
constexpr std::string_view kEndRecord = "PK\5\6";
constexpr std::size_t kLocalHeaderBytes = 30;
constexpr std::size_t kCentralEntryBytes = 46;
constexpr std::size_t kEndRecordBytes = 22;

// A part of the archive; everything is read through at(), which checks the bounds.
class Span {
 public:
  Span(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  std::string_view at(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) fail();
    return bytes_.substr(offset, size);
  }
  std::size_t number(std::size_t offset, std::size_t size) const {
    return little_endian(at(offset, size));
  }
  void require_signature(std::size_t offset, std::string_view signature) const {
    if (at(offset, signature.size()) != signature) fail();
  }
  [[noreturn]] void fail() const {
    throw DataError(origin_ + ": not a complete ZIP archive (" + std::to_string(bytes_.size()) +
                    " bytes); copy or save the file again");
  }

 private:
  std::string_view bytes_;
  const std::string& origin_;
};

// The end record is the last thing in the file but for a comment, whose length it tells.
std::size_t find_end_record(std::string_view bytes, const Span& span) {
  std::size_t at = bytes.rfind(kEndRecord);
  while (at != std::string_view::npos) {
    const std::size_t rest = bytes.size() - at;
    if (rest >= kEndRecordBytes && rest == kEndRecordBytes + span.number(at + 20, 2)) return at;
    if (at == 0) break;
    at = bytes.rfind(kEndRecord, at - 1);
  }
  span.fail();
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    table[i] = value;
  }
  return table;
}

std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto kTable = make_crc_table();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<std::uint8_t>(c)) & 0xFF];
  return ~crc;
}

// The value whose name is `<top folder>/<suffix>`.
template <class Value>
const Value* find(const std::map<std::string, Value>& members, std::string_view suffix) {
  for (const auto& [name, value] : members) {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos && name.compare(slash + 1, std::string::npos, suffix) == 0) {
      return &value;
    }
  }
  return nullptr;
}

// RFC 1951 without any header; nothing unless the bytes give exactly `size` bytes.
std::optional<std::string> inflated(std::string_view bytes, std::size_t size) {
  constexpr std::size_t kHighestRatio = 1032;  // of Deflate: a false size allocates no more
  if (bytes.size() > UINT32_MAX || size > kHighestRatio * (bytes.size() + 1)) return std::nullopt;
  std::string content(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(size);
  constexpr int kNoHeader = -MAX_WBITS;
  if (inflateInit2(&stream, kNoHeader) != Z_OK) return std::nullopt;
  const int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (status != Z_STREAM_END || stream.avail_out != 0) return std::nullopt;
  return content;
}

}  // namespace

ZipArchive::ZipArchive(std::string bytes, const std::string& origin)
    : bytes_(std::move(bytes)), origin_(origin) {
  const Span span(bytes_, origin_);
  const std::size_t end = find_end_record(bytes_, span);
  const std::size_t count = span.number(end + 10, 2);
  std::size_t entry = span.number(end + 16, 4);
  for (std::size_t i = 0; i < count; ++i) {
    span.require_signature(entry, kCentralEntry);
    const std::size_t name_bytes = span.number(entry + 28, 2);
    const std::string name(span.at(entry + kCentralEntryBytes, name_bytes));
    const bool encrypted = span.number(entry + 8, 2) & 1;
    const std::size_t method = span.number(entry + 10, 2);
    const std::size_t header = span.number(entry + 42, 4);
    span.require_signature(header, kLocalHeader);
    const std::size_t content =
        header + kLocalHeaderBytes + span.number(header + 26, 2) + span.number(header + 28, 2);
    const std::string_view stored = span.at(content, span.number(entry + 20, 4));
    if (!encrypted && method != 0) {
      compressed_[name] = {stored, method, span.number(entry + 24, 4)};
    } else if (!encrypted) {
      if (!members_.emplace(name, stored).second) {
        throw DataError(origin_ + ": member " + name + " occurs twice");
      }
      crcs_[name] = static_cast<std::uint32_t>(span.number(entry + 16, 4));
    }
    entry +=
        kCentralEntryBytes + name_bytes + span.number(entry + 30, 2) + span.number(entry + 32, 2);
  }
}

std::string_view ZipArchive::member(std::string_view suffix) const {
  if (const std::string_view* content = find(members_, suffix)) return *content;
  throw DataError(origin_ + ": no member " + std::string(suffix) + " stored without compression");
}

bool ZipArchive::has(std::string_view suffix) const { return find(members_, suffix) != nullptr; }

std::optional<std::string> ZipArchive::text(std::string_view suffix) const {
  if (const std::string_view* content = find(members_, suffix)) return std::string(*content);
  const Compressed* compressed = find(compressed_, suffix);
  if (compressed == nullptr) return std::nullopt;
  constexpr std::size_t kDeflate = 8;
  std::optional<std::string> content;
  if (compressed->method == kDeflate) content = inflated(compressed->bytes, compressed->size);
  if (!content) {
    throw DataError(origin_ + ": member " + std::string(suffix) +
                    " cannot be decompressed; copy or save the file again");
  }
  return content;
}

bool ZipArchive::crc_matches(const std::string& name) const {
  const std::uint32_t recorded = crcs_.at(name);
  return recorded == 0 || recorded == crc32(members_.at(name));
}

}  // namespace pw
