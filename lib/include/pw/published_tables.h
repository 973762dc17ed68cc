#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "pw/comparison.h"

namespace pw {

// The comparison tables as the original scripts make them, byte for byte, with all that is wrong
// with them: the run closest to each prediction counts as measured, a missing value is 0 and has no
// error, run names match by substring. Returns file name and content: "<method>_comparison.csv" for
// each method with SGLang cases, "vllm_comparison.csv". `predictions` are (method, folder).
std::vector<std::pair<std::string, std::string>> published_tables(
    const std::vector<std::pair<std::string, std::filesystem::path>>& predictions,
    const std::filesystem::path& measurements, const Warn& warn);

}  // namespace pw
