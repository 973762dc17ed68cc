#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pw {

inline constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// Whether bytes that come piece by piece are a text that we read. Throws DataError for what is
// none: nothing but blanks, UTF-16, invalid UTF-8, NUL bytes, a Git LFS pointer in place of the
// content. `origin` names the file in messages.
class TextCheck {
 public:
  explicit TextCheck(std::string origin) : origin_(std::move(origin)) {}

  // The first piece holds at least kFirstPiece bytes, or the whole text.
  static constexpr std::size_t kFirstPiece = 64;
  void add(std::string_view bytes);
  void end() const;  // behind the last piece
  std::size_t line_ends() const { return line_ends_; }

 private:
  void check_start(std::string_view bytes) const;
  void require_no_nul(std::string_view bytes) const;
  void require_utf8(std::string_view bytes);
  [[noreturn]] void throw_at(std::string_view bytes, std::size_t offset, const char* problem) const;

  std::string origin_;
  bool started_ = false;
  bool is_blank_ = true;
  std::size_t line_ends_ = 0;  // in the pieces before
  std::string unfinished_;     // the start of a character whose rest comes with the next piece
};

// The text of a file without its UTF-8 byte-order mark; a view into `bytes`. Checked as above.
std::string_view checked_text(std::string_view bytes, const std::string& origin);

std::size_t count_line_ends(std::string_view text);

// 1-based line of the byte at `offset`; an offset past the end means the last byte's line.
std::size_t line_at(std::string_view text, std::size_t offset);

// Without the spaces and tabs at its ends, or at its start alone.
std::string_view trimmed(std::string_view text);
std::string_view without_leading_blanks(std::string_view text);

// With a question mark for every control character, so that it stays on its line of a terminal.
std::string one_line(std::string_view text);

// The text in double quotes for a message of one line: cut between two characters after about
// `longest` bytes, as one_line().
std::string shown(std::string_view text, std::size_t longest = 60);

// The integer that `value` is, if it is one below 2^53 in size. From there on a double may stand
// for a neighbour of the number that was written.
std::optional<std::int64_t> exact_integer(double value);

}  // namespace pw
