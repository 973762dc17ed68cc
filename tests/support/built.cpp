#include "support/built.h"

namespace pw {

std::filesystem::path source_folder() { return PW_TEST_SOURCE_DIR; }

std::string program(const std::string& name) { return PW_TEST_PROGRAMS "/" + name; }

std::filesystem::path old_openblas() { return PW_TEST_OLD_OPENBLAS; }

bool built_with_torch() { return PW_TEST_TORCH != 0; }

}  // namespace pw
