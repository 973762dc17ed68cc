#include "compare_methods.h"

#include <algorithm>

#include "pw/fields.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = "_pred";

bool ends_with_suffix(const std::string& name) {
  return name.size() > kSuffix.size() &&
         name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
}

std::string method_name(fs::path path) {
  if (!path.has_filename()) path = path.parent_path();  // "folder/"
  std::string name = fs::is_directory(path) ? path.filename().string() : path.stem().string();
  if (name == "." || name == "..") name = fs::canonical(path).filename().string();
  if (ends_with_suffix(name)) name.resize(name.size() - kSuffix.size());
  return name;
}

// The "*_pred" folders of a folder that holds no prediction itself.
std::vector<fs::path> method_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") return {};
    if (entry.is_directory() && ends_with_suffix(entry.path().filename().string())) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

MethodPaths find_methods(const std::vector<std::string>& arguments) {
  MethodPaths methods;
  const auto add = [&](const std::string& name, const fs::path& path) {
    if (name.find('/') != std::string::npos) {
      throw UsageError("--pred calls a method '" + name +
                       "', expected a name without '/': it becomes part of a file name");
    }
    for (const auto& [known, other] : methods) {
      if (known == name) {
        throw UsageError("--pred " + path.string() + " and " + other.string() +
                         " are both called '" + name + "': name them with --pred NAME=PATH");
      }
    }
    methods.emplace_back(name, path);
  };
  for (const std::string& argument : arguments) {
    const std::size_t equals = fs::exists(argument) ? std::string::npos : argument.find('=');
    const bool named = equals != std::string::npos && equals > 0;
    const fs::path path = named ? argument.substr(equals + 1) : argument;
    if (!fs::exists(path)) {
      throw DataError("--pred " + argument + ": no file or folder " + path.string());
    }
    const auto folders =
        !named && fs::is_directory(path) ? method_folders(path) : std::vector<fs::path>{};
    for (const fs::path& folder : folders) add(method_name(folder), folder);
    if (folders.empty()) add(named ? argument.substr(0, equals) : method_name(path), path);
  }
  return methods;
}

}  // namespace pw
