#include "support/built.h"

namespace pw {

std::filesystem::path source_folder() { return PW_TEST_SOURCE_DIR; }

std::string program(const std::string& name) { return PW_TEST_PROGRAMS "/" + name; }

bool built_with_torch() { return PW_TEST_TORCH != 0; }

}  // namespace pw
