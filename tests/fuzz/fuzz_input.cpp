#include "fuzz_input.h"

#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

namespace pw::fuzz {
namespace {

namespace fs = std::filesystem;

// A folder of this process, for the links that give files in memory their names. It stays behind
// when the process ends with a finding.
const fs::path& folder() {
  static const fs::path made = [] {
    std::string name = (fs::temp_directory_path() / "pw-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "no temporary folder can be made");
    return fs::path(name);
  }();
  static const int remove_at_exit = std::atexit([] {
    std::error_code ignored;
    fs::remove_all(made, ignored);
  });
  require(remove_at_exit == 0, "atexit failed");
  return made;
}

}  // namespace

InputFile::InputFile(const std::string& name)
    : memory_(::memfd_create(name.c_str(), MFD_CLOEXEC)), path_(folder() / name) {
  require(memory_ >= 0, "no file in memory can be made");
  fs::create_symlink("/proc/self/fd/" + std::to_string(memory_), path_);
}

const fs::path& InputFile::write(std::string_view bytes) const {
  const ssize_t written =
      ::ftruncate(memory_, 0) == 0 ? ::pwrite(memory_, bytes.data(), bytes.size(), 0) : -1;
  require(written == static_cast<ssize_t>(bytes.size()), "the file in memory cannot be written");
  return path_;
}

void require(bool holds, const char* message) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", message);
  std::abort();
}

const HardwareCatalog& catalog() {
  static const HardwareCatalog read =
      HardwareCatalog::read(fs::path(PW_TEST_SOURCE_DIR) / "hardware");
  return read;
}

}  // namespace pw::fuzz
