#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pw/gemm.h"
#include "pw/hardware_spec.h"

namespace pw {

// How the row that lends its tile is found and used.
enum class TileLookup {
  nearest_log,  // distance in ln M, ln N, ln K; the grid is computed for the problem at hand
  published,    // distance in M, N, K; the row's cta_count is taken as it is
};

// Profiled GEMM launches (columns M, N, K, tile_M, tile_N, tile_K, is_split_k, cta_count, hardware
// = full device name): the nearest row of a GPU tells a GEMM's tile. Optional: without a table
// tiles come from GemmTilePolicy.
class TileTable {
 public:
  static TileTable read(const std::filesystem::path& path);

  // The GPU whose rows answer for `hardware`: itself, or the published stand-in where it has none.
  // Throws DataError that lists the table's GPUs when there is neither.
  const std::string& rows_for(const HardwareSpec& hardware) const;
  GemmTile find(const GemmConfig& gemm, const HardwareSpec& hardware, TileLookup lookup) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, std::vector<GemmConfig>> rows_;  // by full device name, file order
};

}  // namespace pw
