#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json_file.h"
#include "pw/comparison.h"

namespace pw {

// JSON as Python and benchmarks write it: the bare words NaN, Infinity and -Infinity, which are no
// JSON, become null, with one warning that names their lines. `first_line` is the number of the
// text's first line in the file called `origin`. Throws DataError as parse_json does.
Json parse_tolerant_json(std::string_view text, const std::string& origin, std::size_t first_line,
                         const Warn& warn);
Json read_tolerant_json(const std::filesystem::path& path, const Warn& warn);

// One object per line that is not blank, as SGLang's benchmark writes them.
struct JsonLine {
  std::size_t number = 0;  // in the file
  Json value;
};
std::vector<JsonLine> read_json_lines(const std::filesystem::path& path, const Warn& warn);

// Whether errors can be computed from this time: above 0, and so far from the ends of double that
// sums and ratios stay finite (1 fs to 30,000 years).
bool is_usable_ms(double ms);

// A time that can be compared: a usable number, times `factor`. Otherwise empty, and `reason` says
// why: "is missing", "is null", "is 0".
std::optional<double> usable_time(const Json& object, std::string_view key, double factor,
                                  std::string& reason);

}  // namespace pw
