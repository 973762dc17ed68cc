#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sweep_grid.h"
#include "sweep_rows.h"

namespace pw {

// What a sweep's output is the result of. Stands in a file of its own beside the output, so that an
// interrupted sweep is resumed only by the same one and shards are merged only with their own.
struct SweepRecord {
  SweepGrid grid;
  SweepFormat format = SweepFormat::csv;
  // Everything else that rows depend on: files with their SHA-256, options, the program's version.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::size_t shard = 1;  // from 1 to `shards`
  std::size_t shards = 1;

  SweepRows rows() const { return shard_rows(grid, shard, shards); }
};

// "out.csv.sweep.json"
std::filesystem::path record_path(const std::filesystem::path& output);

std::string record_json(const SweepRecord& record);
// The record of an output. Throws DataError when it is absent, and for anything that record_json
// does not write.
SweepRecord read_record(const std::filesystem::path& output);

// What differs between two sweeps, "batch" or "gemm"; empty for shards of the same one.
std::string difference(const SweepRecord& a, const SweepRecord& b);

}  // namespace pw
