#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pw {

enum class Digest { none, sha256 };

// The lines of a text file one by one, with little of it in memory. The text is checked as it is
// read (TextCheck of io/text.h), so that an error in it may come some lines before those that hold
// it. Lines end with LF or CRLF, the last one perhaps with nothing, and have any length. Throws
// DataError when the file cannot be read, is a folder or no text.
class TextLines {
 public:
  explicit TextLines(const std::filesystem::path& path, Digest digest = Digest::none);
  ~TextLines();
  TextLines(TextLines&&) noexcept;
  TextLines& operator=(TextLines&&) noexcept;

  // The next line without its end, valid until the next call; none behind the last one.
  std::optional<std::string_view> next();

  std::size_t file_size() const;  // 0 where unknown, of a pipe
  // Of all bytes; for Digest::sha256, behind the last line.
  std::string sha256() const;

 private:
  class Source;
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace pw
