#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace pw {

// The methods that --pred options name, with their file or folder: "NAME=PATH" or "PATH", whose
// name is that of the file or folder without a `_pred` at its end. A folder without JSON files but
// with folders called "*_pred" stands for these. Throws DataError for an absent path and for a name
// that occurs twice.
using MethodPaths = std::vector<std::pair<std::string, std::filesystem::path>>;
MethodPaths find_methods(const std::vector<std::string>& arguments);

}  // namespace pw
