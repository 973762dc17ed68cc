#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pw {

// The text of a file without its UTF-8 byte-order mark; a view into `bytes`. Throws DataError for
// what is no text that we read: nothing but blanks, UTF-16, invalid UTF-8, NUL bytes, a Git LFS
// pointer in place of the content. `origin` names the file in messages.
std::string_view checked_text(std::string_view bytes, const std::string& origin);

// 1-based line of the byte at `offset`; an offset past the end means the last byte's line.
std::size_t line_at(std::string_view text, std::size_t offset);

}  // namespace pw
