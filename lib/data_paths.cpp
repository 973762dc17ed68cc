#include "pw/data_paths.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>

#include "comma_list.h"
#include "program_location.h"
#include "pw/fields.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The value of an environment variable that must name a folder when it is set.
std::optional<fs::path> folder_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  if (!is_folder(value)) {
    throw DataError(std::string(variable) + " is set to '" + value +
                    "', which is no folder: correct or unset it");
  }
  return fs::path(value);
}

// $PW_HOME, the install prefixes and the source tree, as far as they are known.
std::vector<fs::path> data_places() {
  std::vector<fs::path> places;
  if (const auto home = folder_from_environment("PW_HOME")) places.push_back(*home);
  for (const fs::path& prefix : install_prefixes()) {
    places.push_back(prefix / PW_INSTALL_DATADIR / "pw");
  }
  places.push_back(PW_SOURCE_DIR);
  return places;
}

}  // namespace

fs::path find_data_folder(std::string_view folder, const std::optional<fs::path>& option) {
  if (option) {
    if (is_folder(*option)) return *option;
    throw DataError("the " + std::string(folder) + " folder '" + option->string() +
                    "' does not exist: give an existing folder");
  }
  std::vector<std::string> tried;
  for (const fs::path& place : data_places()) {
    if (is_folder(place / folder)) return place / folder;
    tried.push_back((place / folder).string());
  }
  throw DataError("no " + std::string(folder) + " folder found; tried " + comma_list(tried) +
                  ": give the folder as an option or set PW_HOME to its parent");
}

fs::path find_data_file(const fs::path& file) {
  std::vector<std::string> tried;
  for (const fs::path& place : data_places()) {
    std::error_code error;
    if (fs::is_regular_file(place / file, error)) return place / file;
    tried.push_back((place / file).string());
  }
  throw DataError("no " + file.string() + " found; tried " + comma_list(tried) +
                  ": set PW_HOME to the folder that holds it");
}

std::optional<fs::path> find_reference_folder() {
  if (auto folder = folder_from_environment("PW_REFERENCE_DIR")) return folder;
  const fs::path beside = fs::path(PW_SOURCE_DIR).parent_path() / "shared";
  if (is_folder(beside)) return beside;
  return std::nullopt;
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error) {
    throw DataError("the folder '" + folder.string() + "' cannot be read: " + error.message());
  }
  if (files.empty()) {
    throw DataError("the folder '" + folder.string() + "' holds no .json file");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace pw
