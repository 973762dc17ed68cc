#include "io/files.h"

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ReadFile, ReturnsEveryByte) {
  const TemporaryFolder folder;
  std::string bytes(200000, 'x');
  bytes[100000] = '\0';
  EXPECT_EQ(read_file(folder.file("a", bytes)), bytes);
  EXPECT_EQ(read_file(folder.file("empty", "")), "");
}

TEST(ReadFile, NamesFileAndReason) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_file(folder.path() / "no.csv"); }),
            "cannot read " + (folder.path() / "no.csv").string() + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder.path()); }),
            "cannot read " + folder.path().string() + ": Is a directory");
}

TEST(WriteFileAtomic, WritesReplacesAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "new" / "folders" / std::string(255, 'n');
  write_file_atomic(path, std::string(100000, 'a'));
  EXPECT_EQ(read_file(path), std::string(100000, 'a'));
  write_file_atomic(path, "b");
  EXPECT_EQ(read_file(path), "b");
  EXPECT_EQ(entries(path.parent_path()), 1u);
}

TEST(WriteFileAtomic, ReplacesTheFileBehindALink) {
  const TemporaryFolder folder;
  const auto real = folder.file("real", "old");
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(real, link);
  write_file_atomic(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(real), "new");
}

TEST(WriteFileAtomic, WritesIntoDevicesWithoutReplacingThem) {
  write_file_atomic("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(error_of([] { write_file_atomic("/dev/full", "x"); }),
            "cannot write /dev/full: No space left on device");
}

TEST(WriteFileAtomic, RefusesFoldersAndFilesUsedAsFolders) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { write_file_atomic(folder.path(), "x"); }),
            "cannot write " + folder.path().string() + ": Is a directory");
  const auto file = folder.file("file", "kept");
  EXPECT_THAT(error_of([&] { write_file_atomic(file / "x", "x"); }),
              HasSubstr("cannot make the folder " + file.string()));
  EXPECT_EQ(read_file(file), "kept");
}

TEST(WriteFileAtomic, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  const TemporaryFolder folder;
  const auto path = folder.file("result", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tiny{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const std::string message = error_of([&] { write_file_atomic(path, std::string(100000, 'n')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_EQ(message, "cannot write " + path.string() + ": File too large");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(WriteFileAtomic, NamesTheFileInAReadOnlyFolder) {
  const TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  // The superuser may write anywhere, so he becomes somebody else for a moment.
  constexpr uid_t kNobody = 65534;
  const bool superuser = ::geteuid() == 0;
  if (superuser) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const auto path = folder.path() / "x.json";
  const std::string message = error_of([&] { write_file_atomic(path, "x"); });
  if (superuser) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(message, "cannot write " + path.string() + ": Permission denied");
}

TEST(FileWriter, WritesPiecesAndReplacesTheFileAtTheEnd) {
  const TemporaryFolder folder;
  const auto path = folder.file("result", "old");
  {
    FileWriter file(path);
    file.write("new ");
    EXPECT_EQ(read_file(path), "old");
    file.write("text");
    file.finish();
    EXPECT_EQ(read_file(path), "new text");
  }
  {
    FileWriter file(path);
    file.write("never finished");
  }
  EXPECT_EQ(read_file(path), "new text");
  EXPECT_EQ(entries(folder.path()), 1u);
}

// A signal comes between two pieces.
TEST(FileWriter, LeavesTheOldFileWhenTheProcessIsEnded) {
  const TemporaryFolder folder;
  const auto path = folder.file("result", "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    FileWriter file(path);
    file.write("half of it");
    end_between_writes([] { ::_exit(7); });
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

// The other library's files go first, then the process.
TEST(EndBetweenWrites, AsksALibraryThatWritesTooFirst) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static int asked = 0;
    end_between_writes_of([](void (*end)()) {
      asked = 1;
      end();
    });
    end_between_writes([] { ::_exit(7 + asked); });
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 8) << status;
}

// A child process writes over and over and is told to end at some moment of it.
TEST(EndBetweenWrites, LeavesNoTemporaryFile) {
  const TemporaryFolder folder;
  const auto path = folder.file("result", "old");
  const std::string content(1 << 20, 'n');
  constexpr int kEnded = 7;
  for (int run = 0; run < 20; ++run) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGTERM, [](int) { end_between_writes([] { ::_exit(kEnded); }); });
      write_file_atomic(folder.path() / ("ready" + std::to_string(run)), "");
      for (;;) write_file_atomic(path, content);
    }
    while (!std::filesystem::exists(folder.path() / ("ready" + std::to_string(run)))) {
      ::usleep(1000);
    }
    ::usleep(static_cast<useconds_t>(500 * run));
    ASSERT_EQ(::kill(child, SIGTERM), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kEnded) << status;
    EXPECT_THAT(read_file(path), testing::AnyOf("old", content));
    EXPECT_EQ(entries(folder.path()), static_cast<std::size_t>(run) + 2);  // result, ready0, ...
  }
}

TEST(RequireWritable, IsAboutTheNearestFolderThatExistsAndMakesNone) {
  const TemporaryFolder folder;
  require_writable(folder.path() / "new" / "folders" / "x.pt");
  require_writable(folder.file("old", "kept"));
  require_writable("/dev/null");
  require_writable("no-such-file.pt");  // in the working folder
  EXPECT_FALSE(std::filesystem::exists("no-such-file.pt"));
  EXPECT_EQ(entries(folder.path()), 1u);
  EXPECT_EQ(error_of([&] { require_writable(folder.path()); }),
            "cannot write " + folder.path().string() + ": Is a directory");
  EXPECT_EQ(error_of([] { require_writable("/proc/x.pt"); }),
            "cannot write /proc/x.pt: No such file or directory");
}

}  // namespace
}  // namespace pw
