#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "sweep_record.h"

namespace pw {

// A sweep's output while it grows: whole lines only, so that it is a valid file at any time unless
// the process is killed or the disk is full in the middle of a line. Resuming drops such a line.
class SweepFile {
 public:
  // With `resume` the rows that the file already has are kept: rows_done() of them. Throws
  // DataError when they are those of another sweep. Otherwise the file begins anew; so it does with
  // `resume` when there is none.
  SweepFile(const std::filesystem::path& path, const SweepRecord& record, bool resume);
  ~SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  std::size_t rows_done() const { return rows_done_; }
  // Whole lines. Throws DataError when they cannot be written.
  void append(std::string_view lines);
  // Throws DataError when what was written has not reached the file.
  void close();

 private:
  void keep_complete_rows(const SweepRecord& record);
  void start(const SweepRecord& record);

  std::filesystem::path path_;
  int file_ = -1;
  std::size_t rows_done_ = 0;
};

// Joins all shards of one sweep, in any order: `output` and its record are then those of the whole
// sweep, byte for byte. Throws DataError when a shard is missing, given twice, incomplete or of
// another sweep; `output` is then as it was. Returns its number of rows.
std::size_t merge_shards(const std::vector<std::filesystem::path>& shards,
                         const std::filesystem::path& output);

}  // namespace pw
