#pragma once

#include <filesystem>

#include <gtest/gtest.h>

#include "pw/data_paths.h"
#include "support/built.h"

// Skips the test, saying so, where the public reference material is absent.
#define PW_REFERENCE_OR_SKIP(variable)                                                         \
  const auto variable##_folder = pw::find_reference_folder();                                  \
  if (!variable##_folder) {                                                                    \
    GTEST_SKIP() << "the public reference folder is absent: set PW_REFERENCE_DIR to run this"; \
  }                                                                                            \
  const std::filesystem::path variable = *variable##_folder

namespace pw {

// The shipped data of the source tree that the tests were built from.
inline std::filesystem::path shipped(const std::string& folder) { return source_folder() / folder; }

}  // namespace pw
