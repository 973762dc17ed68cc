#include "io/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pw/fields.h"

namespace pw {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec";

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Length of the UTF-8 sequence at the start of `text`, 0 when it is malformed: Unicode 15, table
// 3-7 (no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// Many bytes at once, as most text is nothing else.
constexpr std::size_t kAsciiBytes = 32;
bool is_ascii(const char* bytes) {
  std::uint64_t words[kAsciiBytes / 8];
  std::memcpy(words, bytes, sizeof words);
  return ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080) == 0;
}

void require_utf8(std::string_view text, const std::string& origin) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at >= kAsciiBytes && is_ascii(text.data() + at)) {
      at += kAsciiBytes;
      continue;
    }
    const std::size_t length = utf8_sequence(text.substr(at));
    if (length == 0) {
      throw DataError(origin + ":" + std::to_string(line_at(text, at)) +
                      ": not UTF-8; save the file as UTF-8");
    }
    at += length;
  }
}

}  // namespace

std::string_view checked_text(std::string_view bytes, const std::string& origin) {
  if (starts_with(bytes, "\xFF\xFE") || starts_with(bytes, "\xFE\xFF")) {
    throw DataError(origin + ": not UTF-8: UTF-16; save the file as UTF-8");
  }
  if (starts_with(bytes, kLfsPointer)) {
    throw DataError(origin + ": a Git LFS pointer, not the file itself; run `git lfs pull`");
  }
  if (starts_with(bytes, kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw DataError(origin + ": the file is empty");
  }
  if (const std::size_t nul = bytes.find('\0'); nul != std::string_view::npos) {
    throw DataError(origin + ":" + std::to_string(line_at(bytes, nul)) +
                    ": a NUL byte, expected text");
  }
  require_utf8(bytes, origin);
  return bytes;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::size_t last = text.empty() ? 0 : text.size() - 1;
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, last));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

std::string_view trimmed(std::string_view text) {
  return without_leading_blanks(text.substr(0, text.find_last_not_of(kBlanks) + 1));
}

std::string_view without_leading_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

std::string one_line(std::string_view text) {
  std::string line(text);
  const auto is_control = [](char c) { return static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F; };
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

std::string shown(std::string_view text, std::size_t longest) {
  std::size_t end = std::min(text.size(), longest);
  while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80) ++end;
  return "\"" + one_line(text.substr(0, end)) + (end < text.size() ? "..." : "") + "\"";
}

std::optional<std::int64_t> exact_integer(double value) {
  constexpr double kTwoTo53 = 9007199254740992.0;
  if (!(std::fabs(value) < kTwoTo53) || std::trunc(value) != value) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace pw
