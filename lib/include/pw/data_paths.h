#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

// The folders that ship with the programs: "hardware", "config", "checkpoints". Looked for in this
// order: the option that the user gave, $PW_HOME/<folder>, <install prefix>/share/pw/<folder>
// (from the place of the running executable), the source tree that the program was built from.
// Throws DataError that lists every place that was tried, and when the option or PW_HOME names no
// folder.
std::filesystem::path find_data_folder(std::string_view folder,
                                       const std::optional<std::filesystem::path>& option);

// A shipped file by its path below those places, "config/engines/vllm.json": the first place
// that has it, whatever folders were given as options. Throws DataError like find_data_folder.
std::filesystem::path find_data_file(const std::filesystem::path& file);

// The .json files of a folder of GPUs or models, sorted by name. Throws DataError when the folder
// cannot be read or holds none.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder);

// The public reference material for tests and refits: $PW_REFERENCE_DIR, else "../shared" beside
// the source tree. Empty when absent; throws DataError when the variable names no folder.
std::optional<std::filesystem::path> find_reference_folder();

}  // namespace pw
