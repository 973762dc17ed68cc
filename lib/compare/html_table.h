#pragma once

#include <string>

#include "compare/format.h"

namespace pw {

// An HTML table of text cells, the first `left` columns flush left.
std::string html_table(const TextTable& table, std::size_t left, const std::string& caption);

// All cases with their errors; a script can sort it.
std::string html_case_table(const Comparison& comparison);

}  // namespace pw
