#pragma once

#include <filesystem>
#include <string>

namespace pw {

// What the tests were built from and with. In a source of its own, so that all tests are compiled
// with the same options and share precompiled headers.
std::filesystem::path source_folder();
std::string program(const std::string& name);  // "pw-predict": path of the executable
std::filesystem::path old_openblas();          // old_openblas.cpp, with LibTorch alone
bool built_with_torch();

}  // namespace pw
