#pragma once

#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

enum class Quoting { good, text_after_quote, unclosed };

// Appends the fields of a line of CSV, unquoted and trimmed, to `cells`: views into the line or,
// where a cell has doubled quotes, into a string that is added to `unescaped`. When the quoting is
// bad, a cell that was closed may be among them.
Quoting split_line(std::string_view line, std::vector<std::string_view>& cells,
                   std::list<std::string>& unescaped);

}  // namespace pw
