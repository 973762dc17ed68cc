#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pw {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return fd_; }
  // Closing reports write errors that network file systems put off.
  bool close();

 private:
  int fd_;
};

// A file that is read from its begin to its end. Throws DataError when it cannot be read or is a
// folder.
class FileReader {
 public:
  explicit FileReader(const std::filesystem::path& path);
  // Fills the buffer, or as much of it as the rest of the file does: less only at the end.
  std::size_t read(char* buffer, std::size_t size);
  std::size_t file_size() const { return file_size_; }  // 0 where unknown, of a pipe

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  std::size_t file_size_ = 0;
};

// The whole file, read as above.
std::string read_file(const std::filesystem::path& path);

// A file that is written piece by piece under a temporary name in the same folder. finish() flushes
// it to disk and renames it, so that readers see the old file or the new one and nothing between.
// Without finish() the temporary file goes and the old one stays, also when a signal ends the
// process (end_between_writes()). Pipes and devices are written to as the pieces come. All throw
// DataError (full disk, read-only folder). Missing parent folders are made.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  class TemporaryFile;
  std::filesystem::path path_;    // what messages name
  std::filesystem::path target_;  // the file behind a symbolic link is replaced, not the link
  std::unique_ptr<TemporaryFile> temporary_;  // null when the target is no regular file
  FileDescriptor file_;
};

// The same for bytes that are there at once.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// Throws the DataError that write_file_atomic would throw for a folder that takes no files. For the
// start of long work; makes no folder.
void require_writable(const std::filesystem::path& path);

// Removes the temporary files of FileWriters and calls `end`, which ends the process: now, or as
// soon as no thread is about to make or rename one. For signal handlers: safe if `end` is.
void end_between_writes(void (*end)());

// A library with a copy of this code of its own writes files too: from now on end_between_writes()
// calls its end_between_writes() in place of `end`, and that one calls `end`.
void end_between_writes_of(void (*its_end_between_writes)(void (*end)()));

}  // namespace pw
