#pragma once

#include <filesystem>
#include <vector>

namespace pw {

// The folders of the running executable and of the library that this code is in, where that is
// another one. Empty when the system does not tell.
std::vector<std::filesystem::path> program_folders();

// Prefixes that the two may be installed under: <prefix>/bin, <prefix>/<library folder>.
std::vector<std::filesystem::path> install_prefixes();

}  // namespace pw
