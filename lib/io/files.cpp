#include "io/files.h"

#include <atomic>
#include <cerrno>
#include <climits>
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
std::atomic<void (*)(void (*)())> end_of_other_library{nullptr};

// Paths of temporary files for signal handlers, which cannot allocate or wait.
struct TemporaryPath {
  std::atomic<bool> is_taken{false};
  std::atomic<bool> is_set{false};
  char path[PATH_MAX] = {};
};
TemporaryPath temporary_paths[8];

void remove_temporary_files() {
  for (const TemporaryPath& each : temporary_paths) {
    if (each.is_set) ::unlink(each.path);
  }
}

void end_if_no_write_at_work() {
  if (writes_at_work != 0) return;
  if (void (*end)() = waiting_end.exchange(nullptr)) {
    remove_temporary_files();
    if (void (*end_of_other)(void (*)()) = end_of_other_library) {
      end_of_other(end);
    } else {
      end();
    }
  }
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

// Null when all are in use: that file alone may stay behind after a signal.
TemporaryPath* noted(const std::filesystem::path& path) {
  if (path.native().size() >= PATH_MAX) return nullptr;
  for (TemporaryPath& each : temporary_paths) {
    if (each.is_taken.exchange(true)) continue;
    path.native().copy(each.path, PATH_MAX - 1);
    each.path[path.native().size()] = '\0';
    each.is_set = true;
    return &each;
  }
  return nullptr;
}

void forget(TemporaryPath* path) {
  if (path == nullptr) return;
  path->is_set = false;
  path->is_taken = false;
}

// Opens a new file, whose name does not contain the target's, which may already have the longest
// length allowed. `target` is what messages name.
int open_temporary(const std::filesystem::path& folder, const std::filesystem::path& target,
                   std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    path =
        folder / (".pw-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    if (errno != EEXIST) throw_cannot("write", target, errno);
  }
}

// Makes the rename itself durable. Not every file system can sync a folder, and the file is
// complete without it, so a failure is no error.
void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileDescriptor::close() { return ::close(std::exchange(fd_, -1)) == 0; }

FileReader::FileReader(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat info {};
  if (file_.get() < 0 || ::fstat(file_.get(), &info) != 0) throw_cannot("read", path, errno);
  if (S_ISDIR(info.st_mode)) throw_cannot("read", path, EISDIR);
  if (info.st_size > 0) file_size_ = static_cast<std::size_t>(info.st_size);
}

std::size_t FileReader::read(char* buffer, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = ::read(file_.get(), buffer + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_cannot("read", path_, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

std::string read_file(const std::filesystem::path& path) {
  FileReader file(path);
  constexpr std::size_t kLeast = 1 << 16;  // for pipes, whose size is not known
  std::string bytes(file.file_size() > 0 ? file.file_size() + 1 : kLeast, '\0');
  std::size_t size = 0;
  while ((size += file.read(bytes.data() + size, bytes.size() - size)) == bytes.size()) {
    bytes.resize(2 * bytes.size());
  }
  bytes.resize(size);
  return bytes;
}

// Removes the file on destruction, unless it has been renamed.
class FileWriter::TemporaryFile {
 public:
  TemporaryFile(const std::filesystem::path& folder, const std::filesystem::path& target) {
    const WriteAtWork at_work;
    fd_ = open_temporary(folder, target, path_);
    noted_ = noted(path_);
  }
  ~TemporaryFile() {
    const WriteAtWork at_work;
    if (!renamed_) ::unlink(path_.c_str());
    forget(noted_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int fd() const { return fd_; }
  // False with errno set.
  bool rename_to(const std::filesystem::path& target) {
    const WriteAtWork at_work;
    renamed_ = ::rename(path_.c_str(), target.c_str()) == 0;
    return renamed_;
  }

 private:
  std::filesystem::path path_;
  int fd_ = -1;  // the FileWriter's
  TemporaryPath* noted_ = nullptr;
  bool renamed_ = false;
};

FileWriter::FileWriter(const std::filesystem::path& path) : path_(path), file_(-1) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw_cannot("write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // Pipes and devices such as /dev/stdout must be written to and never replaced.
    file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) throw_cannot("write", path, errno);
    return;
  }
  target_ = std::filesystem::exists(status) ? std::filesystem::canonical(path) : path;
  if (!target_.has_parent_path()) target_ = "." / target_;
  const std::filesystem::path folder = target_.parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) throw_cannot("make the folder", folder, error.value());
  temporary_ = std::make_unique<TemporaryFile>(folder, path);
  file_ = FileDescriptor(temporary_->fd());
}

FileWriter::~FileWriter() = default;

void FileWriter::write(std::string_view bytes) {
  if (!write_all(file_.get(), bytes)) throw_cannot("write", path_, errno);
}

void FileWriter::finish() {
  if (!temporary_) return;
  if (::fsync(file_.get()) != 0 || !file_.close() || !temporary_->rename_to(target_)) {
    throw_cannot("write", path_, errno);
  }
  sync_folder(target_.parent_path());
}

void write_file_atomic(const std::filesystem::path& path, std::string_view bytes) {
  FileWriter file(path);
  file.write(bytes);
  file.finish();
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
  std::filesystem::path probe;
  const FileDescriptor file(open_temporary(folder, path, probe));
  ::unlink(probe.c_str());
}

void end_between_writes(void (*end)()) {
  waiting_end = end;
  end_if_no_write_at_work();
}

void end_between_writes_of(void (*its_end_between_writes)(void (*end)())) {
  end_of_other_library = its_end_between_writes;
}

}  // namespace pw
