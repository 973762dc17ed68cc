#include "program_location.h"

#include <algorithm>
#include <system_error>

#include <dlfcn.h>

namespace pw {
namespace {

namespace fs = std::filesystem;

fs::path executable() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

// Of an executable the loader knows the name as it was called, which may be no path.
fs::path own_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&program_folders), &info) == 0) return {};
  std::error_code error;
  const fs::path path = fs::canonical(info.dli_fname, error);
  const bool is_library = path.filename().string().find(".so") != std::string::npos;
  return is_library ? path : fs::path();
}

}  // namespace

std::vector<fs::path> program_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& file : {executable(), own_library()}) {
    if (!file.empty() && std::count(folders.begin(), folders.end(), file.parent_path()) == 0) {
      folders.push_back(file.parent_path());
    }
  }
  return folders;
}

std::vector<fs::path> install_prefixes() {
  std::vector<fs::path> prefixes;
  const fs::path library_folder = PW_INSTALL_LIBDIR;  // "lib", "lib/x86_64-linux-gnu"
  for (fs::path folder : program_folders()) {
    // Both kinds of folders are tried for both files: neither harms.
    prefixes.push_back(folder.parent_path());
    for (auto part = library_folder.begin(); part != library_folder.end(); ++part) {
      folder = folder.parent_path();
    }
    if (folder != prefixes.back()) prefixes.push_back(folder);
  }
  return prefixes;
}

}  // namespace pw
