#include "io/files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pw/fields.h"

namespace pw {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void throw_cannot(const std::string& action, const std::filesystem::path& path,
                               int error) {
  throw DataError("cannot " + action + " " + path.string() + ": " + reason(error));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Closing reports write errors that network file systems put off.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

// False with errno set.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<void (*)()>::is_always_lock_free);  // for use in signal handlers
std::atomic<int> writes_at_work{0};
std::atomic<void (*)()> waiting_end{nullptr};

void end_if_no_write_at_work() {
  if (writes_at_work != 0) return;
  if (void (*end)() = waiting_end.exchange(nullptr)) end();
}

// While it lives, end_between_writes() waits.
class WriteAtWork {
 public:
  WriteAtWork() { ++writes_at_work; }
  ~WriteAtWork() {
    --writes_at_work;
    end_if_no_write_at_work();
  }
  WriteAtWork(const WriteAtWork&) = delete;
  WriteAtWork& operator=(const WriteAtWork&) = delete;
};

// Pipes and devices such as /dev/stdout must be written to and never replaced.
void write_in_place(const std::filesystem::path& path, std::string_view bytes) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), bytes)) throw_cannot("write", path, errno);
}

// Removes the file on destruction, unless it has been renamed.
class TemporaryFile {
 public:
  // `target` is what messages name.
  TemporaryFile(const std::filesystem::path& folder, const std::filesystem::path& target)
      : fd_(create(folder, target)) {}
  ~TemporaryFile() {
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool fill_and_rename(std::string_view bytes, const std::filesystem::path& target) {
    renamed_ = write_all(fd_.get(), bytes) && ::fsync(fd_.get()) == 0 && fd_.close() &&
               ::rename(path_.c_str(), target.c_str()) == 0;
    return renamed_;
  }

 private:
  // The name does not contain the target's, which may already have the longest length allowed.
  int create(const std::filesystem::path& folder, const std::filesystem::path& target) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
      path_ =
          folder / (".pw-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
      const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd >= 0) return fd;
      if (errno != EEXIST) throw_cannot("write", target, errno);
    }
  }

  std::filesystem::path path_;
  FileDescriptor fd_;
  bool renamed_ = false;
};

// Makes the rename itself durable. Not every file system can sync a folder, and the file is
// complete without it, so a failure is no error.
void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

FileBytes read_bytes(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) throw_cannot("read", path, errno);
  if (S_ISDIR(info.st_mode)) throw_cannot("read", path, EISDIR);

  constexpr std::size_t kLeast = 1 << 16;  // for pipes, whose size is not known
  std::size_t capacity = info.st_size > 0 ? static_cast<std::size_t>(info.st_size) + 1 : kLeast;
  std::unique_ptr<char[]> bytes(new char[capacity]);  // not zeroed
  std::size_t size = 0;
  for (;;) {
    const ssize_t count = ::read(file.get(), bytes.get() + size, capacity - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_cannot("read", path, errno);
    size += static_cast<std::size_t>(count);
    if (count == 0) return {std::move(bytes), size};
    if (size < capacity) continue;
    capacity *= 2;
    std::unique_ptr<char[]> larger(new char[capacity]);
    std::copy_n(bytes.get(), size, larger.get());
    bytes = std::move(larger);
  }
}

std::string read_file(const std::filesystem::path& path) {
  return std::string(read_bytes(path).view());
}

void write_file_atomic(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw_cannot("write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return write_in_place(path, bytes);
  }
  // The file behind a symbolic link is replaced, not the link.
  std::filesystem::path target =
      std::filesystem::exists(status) ? std::filesystem::canonical(path) : path;
  if (!target.has_parent_path()) target = "." / target;

  const std::filesystem::path folder = target.parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) throw_cannot("make the folder", folder, error.value());
  {
    const WriteAtWork at_work;
    TemporaryFile temporary(folder, path);
    if (!temporary.fill_and_rename(bytes, target)) throw_cannot("write", path, errno);
  }
  sync_folder(folder);
}

void require_writable(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw_cannot("write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return;
  // Absolute, or the way up would not end at the root.
  std::filesystem::path folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path)).parent_path();
  while (!std::filesystem::exists(folder)) folder = folder.parent_path();
  const WriteAtWork at_work;
  const TemporaryFile probe(folder, path);
}

void end_between_writes(void (*end)()) {
  waiting_end = end;
  end_if_no_write_at_work();
}

}  // namespace pw
