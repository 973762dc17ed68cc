#include "sweep_file.h"

#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "io/files.h"
#include "io/text.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_cannot(const std::string& action, const fs::path& path) {
  throw DataError("cannot " + action + " " + path.string() + ": " +
                  std::generic_category().message(errno));
}

void make_parent_folder(const fs::path& path) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
}

// The complete rows of an output, one after the other, each checked to be the one that must stand
// there.
class RowReader {
 public:
  RowReader(const fs::path& path, const SweepRecord& record)
      : path_(path), record_(record), row_(record.rows().begin), stream_(path, std::ios::binary) {
    if (!stream_) throw DataError("cannot read " + path.string());
    const std::string header = sweep_header(record.format);
    if (header.empty()) return;
    // A file that ends within its header has no rows.
    if (const std::optional<std::string> line = next_line(); line && *line != header) {
      throw DataError(path.string() + ": the first line is " + shown(*line) + ", expected " +
                      shown(header));
    }
  }

  // With its end; empty behind the last complete one.
  std::optional<std::string> next() {
    std::optional<std::string> line = next_line();
    if (!line) return line;
    if (row_ == record_.rows().end) {
      throw DataError(path_.string() + " has more than the " +
                      std::to_string(record_.rows().count()) + " rows of its sweep");
    }
    const std::string start = row_start(record_.format, record_.grid, row_);
    if (line->compare(0, start.size(), start) != 0) {
      throw DataError(path_.string() + ": row " + std::to_string(rows_read() + 1) + " is " +
                      shown(*line) + ", expected one that starts with " + shown(start));
    }
    ++row_;
    return line;
  }

  std::size_t rows_read() const { return row_ - record_.rows().begin; }
  std::uint64_t bytes_read() const { return bytes_; }  // of complete lines

 private:
  std::optional<std::string> next_line() {
    std::string line;
    if (!std::getline(stream_, line) || stream_.eof()) return std::nullopt;
    line += '\n';
    bytes_ += line.size();
    return line;
  }

  const fs::path& path_;
  const SweepRecord& record_;
  std::size_t row_;
  std::uint64_t bytes_ = 0;
  std::ifstream stream_;
};

void require_same_sweep(const fs::path& path, const SweepRecord& record, const std::string& other,
                        const SweepRecord& expected) {
  const std::string differing = difference(record, expected);
  if (!differing.empty()) {
    throw DataError(path.string() + " belongs to another sweep than " + other + ": '" + differing +
                    "' differs, see " + record_path(path).filename().string());
  }
}

struct Shard {
  fs::path path;
  SweepRecord record;
};

// By number, checked to be all of one sweep.
std::vector<Shard> all_shards(const std::vector<fs::path>& paths) {
  std::vector<std::optional<Shard>> found;
  const fs::path& first = paths.front();
  std::optional<SweepRecord> expected;
  for (const fs::path& path : paths) {
    SweepRecord record = read_record(path);
    if (!expected) {
      expected = record;
      if (record.shards > paths.size()) {
        throw DataError(first.string() + " is one of " + std::to_string(record.shards) +
                        " shards, but " + std::to_string(paths.size()) +
                        " files are given: name all of them");
      }
      found.resize(record.shards);
    }
    require_same_sweep(path, record, first.string(), *expected);
    if (record.shards != expected->shards) {
      throw DataError(path.string() + " is one of " + std::to_string(record.shards) + " shards, " +
                      first.string() + " one of " + std::to_string(expected->shards));
    }
    std::optional<Shard>& place = found[record.shard - 1];
    if (place) {
      throw DataError(place->path.string() + " and " + path.string() + " are both shard " +
                      std::to_string(record.shard));
    }
    place = Shard{path, std::move(record)};
  }
  std::vector<Shard> shards;
  for (std::optional<Shard>& shard : found) shards.push_back(std::move(*shard));
  return shards;
}

}  // namespace

SweepFile::SweepFile(const fs::path& path, const SweepRecord& record, bool resume) : path_(path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    throw DataError("--output " + path.string() +
                    " is no regular file; leave it out for the standard output");
  }
  make_parent_folder(path);
  if (resume && fs::exists(path, ignored)) {
    const SweepRecord before = read_record(path);
    require_same_sweep(path, before, "this command", record);
    if (before.shard != record.shard || before.shards != record.shards) {
      throw DataError(path.string() + " is shard " + std::to_string(before.shard) + " of " +
                      std::to_string(before.shards) + ", not " + std::to_string(record.shard) +
                      " of " + std::to_string(record.shards));
    }
    keep_complete_rows(record);
  } else {
    start(record);
  }
}

SweepFile::~SweepFile() {
  if (file_ >= 0) ::close(file_);
}

void SweepFile::keep_complete_rows(const SweepRecord& record) {
  RowReader reader(path_, record);
  while (reader.next()) {
  }
  rows_done_ = reader.rows_read();
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(reader.bytes_read())) != 0) {
    throw_cannot("write", path_);
  }
  if (reader.bytes_read() == 0) append(sweep_header(record.format));
}

// The old rows go before the new record comes: no moment has rows beside the record of others.
void SweepFile::start(const SweepRecord& record) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw_cannot("write", path_);
  write_file_atomic(record_path(path_), record_json(record));
  append(sweep_header(record.format));
}

void SweepFile::append(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = ::write(file_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_cannot("write", path_);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

void SweepFile::close() {
  const int file = std::exchange(file_, -1);
  const bool synced = ::fsync(file) == 0;
  if (::close(file) != 0 || !synced) throw_cannot("write", path_);
}

std::size_t merge_shards(const std::vector<fs::path>& paths, const fs::path& output) {
  const std::vector<Shard> shards = all_shards(paths);
  SweepRecord whole = shards.front().record;
  whole.shard = whole.shards = 1;
  const fs::path partial = output.string() + ".partial";
  try {
    SweepFile file(partial, whole, false);
    for (const Shard& shard : shards) {
      RowReader reader(shard.path, shard.record);
      while (const std::optional<std::string> line = reader.next()) file.append(*line);
      const std::size_t rows = shard.record.rows().count();
      if (reader.rows_read() != rows) {
        throw DataError(shard.path.string() + " has " + std::to_string(reader.rows_read()) +
                        " of its " + std::to_string(rows) +
                        " rows: finish it with the command that made it and --resume");
      }
    }
    file.close();
    fs::rename(record_path(partial), record_path(output));
    fs::rename(partial, output);
  } catch (...) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    fs::remove(record_path(partial), ignored);
    throw;
  }
  return whole.grid.rows();
}

}  // namespace pw
