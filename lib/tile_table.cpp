#include "pw/tile_table.h"

#include <algorithm>
#include <cmath>

#include "io/csv_table.h"
#include "pw/int_math.h"

namespace pw {
namespace {

struct StandIn {
  const char* hardware;
  const char* rows_of;
};
// The original's choices for GPUs that its table does not cover.
constexpr StandIn kStandIns[] = {
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA A40"},
    {"NVIDIA RTX A6000", "NVIDIA A40"},
    {"NVIDIA L40", "NVIDIA RTX 6000 Ada Generation"},
    {"NVIDIA H200", "NVIDIA H800"},
    {"NVIDIA H100", "NVIDIA H800"},
};

double distance(const GemmConfig& a, const GemmConfig& b, TileLookup lookup) {
  const auto difference = [&](std::int64_t x, std::int64_t y) {
    // Sizes are below 2^31 in practice; long double keeps their squared difference exact.
    return lookup == TileLookup::published
               ? static_cast<long double>(x) - static_cast<long double>(y)
               : std::log(static_cast<long double>(x)) - std::log(static_cast<long double>(y));
  };
  const long double m = difference(a.m, b.m);
  const long double n = difference(a.n, b.n);
  const long double k = difference(a.k, b.k);
  return static_cast<double>(m * m + n * n + k * k);
}

// The grid of a launch like `row`, for another problem: same tile, same number of K slices.
std::int64_t grid_for(const GemmConfig& gemm, const GemmConfig& row, const HardwareSpec& hardware) {
  const GemmTile& tile = *row.tile;
  const auto tiles_of = [&](const GemmConfig& g) {
    return checked_mul(ceil_div(g.m, tile.m), ceil_div(g.n, tile.n));
  };
  const std::int64_t tiles = tiles_of(gemm);
  if (hardware.gemm_rules == GemmRules::sm90 && !tile.split_k) {
    return std::min(tiles, hardware.num_sms);  // persistent CTAs
  }
  return checked_mul(tiles, std::max<std::int64_t>(1, tile.cta_count / tiles_of(row)));
}

}  // namespace

TileTable TileTable::read(const std::filesystem::path& path) {
  const CsvTable csv = CsvTable::read(path);
  csv.require_no_bad_lines();
  csv.require_columns(
      {"M", "N", "K", "tile_M", "tile_N", "tile_K", "is_split_k", "cta_count", "hardware"});
  TileTable table;
  table.path_ = path;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    table.rows_[fields.text("hardware")].push_back(GemmConfig::read(fields));
  }
  if (table.rows_.empty()) {
    throw DataError(path.string() + " has no data rows, expected profiled GEMM launches");
  }
  return table;
}

const std::string& TileTable::rows_for(const HardwareSpec& hardware) const {
  const auto own = rows_.find(hardware.name);
  if (own != rows_.end()) {
    return own->first;
  }
  for (const StandIn& stand_in : kStandIns) {
    const auto other = rows_.find(stand_in.rows_of);
    if (hardware.name == stand_in.hardware && other != rows_.end()) {
      return other->first;
    }
  }
  std::string known;
  for (const auto& [name, rows] : rows_) {
    known += (known.empty() ? "" : ", ") + name;
  }
  throw DataError(path_.string() + " has no rows for " + hardware.name + " (it has " + known +
                  "); leave the table out to use the built-in tile selection");
}

GemmTile TileTable::find(const GemmConfig& gemm, const HardwareSpec& hardware,
                         TileLookup lookup) const {
  const std::vector<GemmConfig>& rows = rows_.at(rows_for(hardware));
  const auto nearest =
      std::min_element(rows.begin(), rows.end(), [&](const GemmConfig& a, const GemmConfig& b) {
        return distance(a, gemm, lookup) < distance(b, gemm, lookup);
      });
  GemmTile tile = *nearest->tile;
  if (lookup == TileLookup::nearest_log) {
    tile.cta_count = grid_for(gemm, *nearest, hardware);
  }
  return tile;
}

}  // namespace pw
