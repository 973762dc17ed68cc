#include "io/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pw/fields.h"

namespace pw {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr char kNotUtf8[] = ": not UTF-8; save the file as UTF-8";
constexpr std::size_t kLongestSequence = 4;
constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec";

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Bytes of the UTF-8 sequence that `lead` begins, 0 for a byte that begins none.
std::size_t sequence_length(std::uint8_t lead) {
  return lead < 0x80   ? 1
         : lead < 0xC2 ? 0
         : lead < 0xE0 ? 2
         : lead < 0xF0 ? 3
         : lead < 0xF5 ? 4
                       : 0;
}

enum class Sequence { good, malformed, unfinished };

// The UTF-8 sequence at the start of `text`: Unicode 15, table 3-7 (no overlong forms, no
// surrogates, nothing above U+10FFFF). Unfinished where the text ends within a good one.
Sequence check_sequence(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  length = sequence_length(lead);
  if (length == 0) return Sequence::malformed;
  for (std::size_t i = 1; i < std::min(length, text.size()); ++i) {
    std::uint8_t low = 0x80, high = 0xBF;
    if (i == 1) {
      low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : low;
      high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : high;
    }
    if (byte(i) < low || byte(i) > high) return Sequence::malformed;
  }
  return length <= text.size() ? Sequence::good : Sequence::unfinished;
}

// Many bytes at once, as most text is nothing else.
constexpr std::size_t kAsciiBytes = 32;
bool is_ascii(const char* bytes) {
  std::uint64_t words[kAsciiBytes / 8];
  std::memcpy(words, bytes, sizeof words);
  return ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080) == 0;
}

}  // namespace

void TextCheck::add(std::string_view bytes) {
  if (!started_) check_start(bytes);
  std::string_view text = bytes;
  if (!started_ && starts_with(text, kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  started_ = true;
  is_blank_ = is_blank_ && text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  require_no_nul(bytes);
  require_utf8(bytes);
  line_ends_ += count_line_ends(bytes);
}

void TextCheck::end() const {
  if (is_blank_) throw DataError(origin_ + ": the file is empty");
  if (!unfinished_.empty()) throw_at({}, 0, kNotUtf8);
}

void TextCheck::check_start(std::string_view bytes) const {
  if (starts_with(bytes, "\xFF\xFE") || starts_with(bytes, "\xFE\xFF")) {
    throw DataError(origin_ + ": not UTF-8: UTF-16; save the file as UTF-8");
  }
  if (starts_with(bytes, kLfsPointer)) {
    throw DataError(origin_ + ": a Git LFS pointer, not the file itself; run `git lfs pull`");
  }
}

void TextCheck::require_no_nul(std::string_view bytes) const {
  const std::size_t nul = bytes.find('\0');
  if (nul != std::string_view::npos) throw_at(bytes, nul, ": a NUL byte, expected text");
}

void TextCheck::require_utf8(std::string_view bytes) {
  std::size_t at = 0;
  std::size_t length = 0;
  if (!unfinished_.empty()) {
    const std::size_t before = unfinished_.size();
    unfinished_ += bytes.substr(0, kLongestSequence - before);
    const Sequence sequence = check_sequence(unfinished_, length);
    if (sequence == Sequence::malformed) throw_at(bytes, 0, kNotUtf8);
    if (sequence == Sequence::unfinished) return;
    unfinished_.clear();
    at = length - before;
  }
  while (at < bytes.size()) {
    if (bytes.size() - at >= kAsciiBytes && is_ascii(bytes.data() + at)) {
      at += kAsciiBytes;
      continue;
    }
    const Sequence sequence = check_sequence(bytes.substr(at), length);
    if (sequence == Sequence::malformed) throw_at(bytes, at, kNotUtf8);
    if (sequence == Sequence::unfinished) {
      unfinished_ = bytes.substr(at);
      return;
    }
    at += length;
  }
}

void TextCheck::throw_at(std::string_view bytes, std::size_t offset, const char* problem) const {
  const std::size_t line = 1 + line_ends_ + count_line_ends(bytes.substr(0, offset));
  throw DataError(origin_ + ":" + std::to_string(line) + problem);
}

std::string_view checked_text(std::string_view bytes, const std::string& origin) {
  TextCheck check(origin);
  check.add(bytes);
  check.end();
  if (starts_with(bytes, kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  return bytes;
}

std::size_t count_line_ends(std::string_view text) {
  // In parts whose count fits a byte: compilers then count many bytes at once.
  constexpr std::size_t kPart = 240;
  std::size_t count = 0;
  while (!text.empty()) {
    std::uint8_t count_of_part = 0;
    for (const char c : text.substr(0, kPart)) {
      count_of_part = static_cast<std::uint8_t>(count_of_part + (c == '\n' ? 1 : 0));
    }
    count += count_of_part;
    text.remove_prefix(std::min(text.size(), kPart));
  }
  return count;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::size_t last = text.empty() ? 0 : text.size() - 1;
  return 1 + count_line_ends(text.substr(0, std::min(offset, last)));
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
