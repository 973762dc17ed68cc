#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pw/hardware_catalog.h"
#include "pw/hardware_spec.h"
#include "pw/operators.h"

namespace pw {

class CsvTable;

struct GemmMeasurement {
  GemmConfig gemm;
  double duration_us = 0;
};

// What a GPU sustains, as a fraction of a nominal rate.
struct SustainedRate {
  double fraction = 0;      // median over the rows
  std::int64_t rows = 0;    // that show the rate
  bool large_rows = false;  // by the strict rule; false: by the rule for few measurements
};

// Tensor rate: 2MNK / time over the nominal rate of rows with M, N, K >= 4096 and MN > 3e7; if
// there are none, of rows whose tensor time is at least 4 times their DRAM time and 100 us. DRAM
// rate: bytes / time over the nominal rate (1e9 bytes/s) of rows with M <= 32 and at least 300 MB
// of weights; if there are none, of rows whose DRAM time is at least 4 times their tensor time and
// whose bytes are at least 4 times the L2. Absent: no row shows the rate. Source: recipe of
// docs/method.md "Sustained rates".
std::optional<SustainedRate> sustained_tensor_rate(const std::vector<GemmMeasurement>& rows,
                                                   const HardwareSpec& hardware);
std::optional<SustainedRate> sustained_dram_rate(const std::vector<GemmMeasurement>& rows,
                                                 const HardwareSpec& hardware);

// Measurements of any operator on one GPU.
struct GpuMeasurements {
  struct Row {
    OperatorConfig config;
    double duration_us = 0;
  };
  const HardwareSpec* hardware;  // must outlive the measurements
  std::vector<Row> rows;         // of several rows of one problem the median counts
};

// A CSV with the problem columns of the family, avg_duration (us) and hardware, of several GPUs.
// Families are those of operator_family(), which live on; a catalog must outlive its rows.
class MeasuredFile {
 public:
  // Throws DataError when a column is absent or a line is no row. A `source` that is not empty
  // selects the rows with this cell of column source.
  MeasuredFile(const std::filesystem::path& path, const OperatorFamily& family,
               const std::string& source = "");
  ~MeasuredFile();

  // Throws DataError when there are none, or for a row that is no problem or no duration.
  GpuMeasurements rows_of(const HardwareSpec& gpu, const HardwareCatalog& catalog) const;

 private:
  std::unique_ptr<const CsvTable> table_;
  const OperatorFamily* family_;
  std::string source_;
};

// What one GPU sustains as a fraction of its nominal rate, over what another one does: for a GPU
// that has rows of some other kernel alone, beside a relative whose rates are known.
struct RelativeRate {
  double ratio = 0;          // median over the problems that both ran and that show the rate
  double low = 0, high = 0;  // quartiles
  std::int64_t problems = 0;
};

// Tensor rate: problems whose tensor time is at least 1.5 times their DRAM time and 100 us on both.
// DRAM rate: those whose DRAM time is at least 4 times their tensor time on both, and whose bytes
// are at least 4 times either L2. A kernel reaches less of the nominal rate than a GEMM; the ratio
// takes that out as far as it does so on both, which holds for two cards with the same chip, and
// for two whose tensor rate is capped far below what their chip could do. Absent: no such problem.
std::optional<RelativeRate> relative_tensor_rate(const GpuMeasurements& gpu,
                                                 const GpuMeasurements& reference);
std::optional<RelativeRate> relative_dram_rate(const GpuMeasurements& gpu,
                                               const GpuMeasurements& reference);

}  // namespace pw
