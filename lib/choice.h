#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "comma_list.h"
#include "pw/fields.h"

namespace pw {

// A text field that names one of `choices` by its to_string.
template <class Choice, std::size_t N>
Choice choice(const Fields& fields, std::string_view key, const std::array<Choice, N>& choices) {
  const std::string text = fields.text(key);
  std::vector<std::string_view> expected;
  for (const Choice each : choices) {
    if (to_string(each) == text) return each;
    expected.push_back(to_string(each));
  }
  throw DataError(fields.where(key) + " is '" + text + "', expected one of " +
                  comma_list(expected));
}

}  // namespace pw
