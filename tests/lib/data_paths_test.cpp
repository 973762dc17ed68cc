#include "pw/data_paths.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Sets an environment variable for the lifetime of the object.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const fs::path& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(FindDataFolder, TakesTheOptionFirst) {
  const TemporaryFolder option;
  const TemporaryFolder home;
  fs::create_directory(home.path() / "hardware");
  const ScopedVariable variable("PW_HOME", home.path());
  EXPECT_EQ(find_data_folder("hardware", option.path()), option.path());
  EXPECT_EQ(find_data_folder("hardware", std::nullopt), home.path() / "hardware");
}

TEST(FindDataFolder, FallsBackToTheSourceTree) {
  const TemporaryFolder home;
  const ScopedVariable variable("PW_HOME", home.path());
  EXPECT_TRUE(fs::exists(find_data_folder("hardware", std::nullopt) / "A100.json"));
  EXPECT_TRUE(fs::exists(find_data_folder("config", std::nullopt) / "Qwen3-32B.json"));
}

TEST(FindDataFolder, NeverReplacesAWrongOptionOrVariable) {
  const TemporaryFolder folder;
  const fs::path missing = folder.path() / "missing";
  EXPECT_THAT(error_of([&] { find_data_folder("hardware", missing); }),
              HasSubstr("the hardware folder '" + missing.string() + "' does not exist"));
  const ScopedVariable variable("PW_HOME", missing);
  EXPECT_THAT(error_of([] { find_data_folder("hardware", std::nullopt); }),
              HasSubstr("PW_HOME is set to '" + missing.string() + "', which is no folder"));
}

TEST(FindDataFolder, ListsThePlacesItTried) {
  const TemporaryFolder home;
  const ScopedVariable variable("PW_HOME", home.path());
  const std::string error = error_of([] { find_data_folder("no_such_folder", std::nullopt); });
  EXPECT_THAT(error, HasSubstr((home.path() / "no_such_folder").string()));
  EXPECT_THAT(error, HasSubstr("share/pw/no_such_folder"));
}

TEST(JsonFiles, AreSortedAndNothingElse) {
  const TemporaryFolder folder;
  folder.file("b.json", "{}");
  folder.file("a b.json", "{}");
  folder.file("README.md", "text");
  EXPECT_THAT(json_files(folder.path()),
              testing::ElementsAre(folder.path() / "a b.json", folder.path() / "b.json"));
}

TEST(JsonFiles, RefusesAFolderWithoutAny) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { json_files(folder.path()); }), HasSubstr("holds no .json file"));
  EXPECT_THAT(error_of([&] { json_files(folder.path() / "no"); }), HasSubstr("cannot be read"));
}

TEST(FindReferenceFolder, TakesTheVariable) {
  const TemporaryFolder folder;
  const ScopedVariable variable("PW_REFERENCE_DIR", folder.path());
  EXPECT_EQ(find_reference_folder(), folder.path());
}

TEST(FindReferenceFolder, RefusesAVariableThatNamesNoFolder) {
  const TemporaryFolder folder;
  const ScopedVariable variable("PW_REFERENCE_DIR", folder.path() / "missing");
  EXPECT_THAT(error_of([] { find_reference_folder(); }), HasSubstr("PW_REFERENCE_DIR is set to"));
}

}  // namespace
}  // namespace pw
