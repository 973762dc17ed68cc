#pragma once

#include <string>

namespace pw {

// "a, b, c" from a range of strings: the known names in an error message.
template <class Range>
std::string comma_list(const Range& names) {
  std::string text;
  for (const auto& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace pw
