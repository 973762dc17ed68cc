#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pw {

// The bytes of a file: a string whose memory is not written twice.
class FileBytes {
 public:
  FileBytes(std::unique_ptr<const char[]> bytes, std::size_t size)
      : bytes_(std::move(bytes)), size_(size) {}
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<const char[]> bytes_;
  std::size_t size_;
};

// The whole file. Both throw DataError when it cannot be read or is a folder.
FileBytes read_bytes(const std::filesystem::path& path);
std::string read_file(const std::filesystem::path& path);

// Writes to a temporary name in the same folder, flushes to disk and renames, so that readers see
// the old file or the new one and nothing between. Throws DataError (full disk, read-only folder)
// after removing the temporary file. Missing parent folders are made.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// Throws the DataError that write_file_atomic would throw for a folder that takes no files. For the
// start of long work; makes no folder.
void require_writable(const std::filesystem::path& path);

// Calls `end`, which ends the process, now or as soon as no thread is in write_file_atomic: a
// process that ends there leaves a temporary file behind. For signal handlers: safe if `end` is.
void end_between_writes(void (*end)());

}  // namespace pw
