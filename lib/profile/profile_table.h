#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "io/json_file.h"
#include "profile/sampling.h"
#include "pw/hardware_spec.h"
#include "pw/operators.h"
#include "pw/profiling.h"

namespace pw {

struct ProfileRow {
  OperatorConfig config;
  Measurement measurement;
  std::int64_t operand_sets = 1;
  double clock_mhz = 0;  // 0 = not told
  std::string kernel_source;
};

// The rows of one operator: <operator>.csv in the published columns, and <operator>.json about
// them.
class ProfileTable {
 public:
  // Throws DataError when the file exists without `resume`, or with it was made under other
  // conditions than `sidecar` has under that key, or with other columns.
  ProfileTable(const OperatorFamily& family, const HardwareSpec& hardware,
               const ProfileOptions& options, Json sidecar);

  const std::filesystem::path& path() const { return csv_; }
  std::size_t rows() const { return lines_.size(); }
  bool has(const OperatorConfig& config) const;
  void add(const ProfileRow& row);
  void add_not_measured(const std::string& problem_and_reason);
  void see(const DeviceState& state);  // for the range of clocks in the sidecar
  void write();

 private:
  std::vector<std::string> header() const;
  void resume();

  const OperatorFamily& family_;
  const HardwareSpec& hardware_;
  const ProfileOptions& options_;
  std::filesystem::path csv_, json_;
  std::vector<std::string> lines_;
  std::set<std::vector<std::string>> problems_;
  Json sidecar_;
};

}  // namespace pw
