#pragma once

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

// The public reference material, or an empty path: $PW_REFERENCE_DIR, else "shared" beside the
// source tree.
inline std::filesystem::path reference_folder() {
  const char* folder = std::getenv("PW_REFERENCE_DIR");
  const std::filesystem::path path = folder ? folder : PW_TEST_REFERENCE_DIR;
  return std::filesystem::is_directory(path) ? path : std::filesystem::path();
}

// Ends the test as skipped where the material is absent.
#define PW_REQUIRE_REFERENCE(folder)                       \
  const std::filesystem::path folder = reference_folder(); \
  if (folder.empty()) GTEST_SKIP() << "no reference folder: set PW_REFERENCE_DIR to it"
