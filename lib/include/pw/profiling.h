#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pw/device_info.h"
#include "pw/hardware_spec.h"
#include "pw/profile_plan.h"

namespace pw {

// Where operands are when a kernel starts: in DRAM, as the weights of a real model, or in the
// device's cache, if they fit there.
enum class Operands { cold, hot };
std::string_view to_string(Operands operands);
Operands parse_operands(std::string_view text);

// One problem with its operands on the device.
class ProfiledKernel {
 public:
  virtual ~ProfiledKernel() = default;
  // Runs that many calls back to back, each on the next set of operands; us of all together.
  virtual double timed_calls_us(std::int64_t calls) = 0;
  virtual std::int64_t operand_sets() const = 0;
  virtual std::string source() const = 0;  // "LibTorch 1.13.0 linear"
};

// A problem whose operands do not fit the device's memory.
class DoesNotFit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What runs kernels: LibTorch on a CPU or a GPU.
class ProfiledDevice {
 public:
  virtual ~ProfiledDevice() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual DeviceState state() const { return device_state(info()); }
  virtual std::string library() const = 0;        // "LibTorch 1.13.0"
  virtual std::string library_build() const = 0;  // how it was built, for the sidecar
  virtual std::string dtype() const = 0;          // "bfloat16"
  // Why a family cannot be profiled; empty if it can.
  virtual std::string refusal(std::string_view family) const = 0;
  // Throws DoesNotFit.
  virtual std::unique_ptr<ProfiledKernel> prepare(const OperatorConfig& config,
                                                  Operands operands) = 0;
};

struct ProfileOptions {
  std::filesystem::path output;  // folder of <operator>.csv and .json
  std::string plan_name;         // for the sidecar
  Operands operands = Operands::cold;
  std::optional<double> minutes;  // time budget
  bool resume = false;            // go on with what is in `output`
  bool with_features = false;     // also the columns that follow from the others
};

struct ProfileProgress {
  std::size_t done = 0, total = 0;  // problems, those of an earlier run included
  double seconds_left = 0;          // until all are measured or the budget is spent
  std::string last;                 // "gemm M=8 N=4096 K=4096: 12.3 us"
};

struct ProfileOutcome {
  std::size_t measured = 0, from_before = 0, total = 0;
  std::vector<std::string> not_measured;  // problem and reason
  bool stopped = false, out_of_time = false;
  std::vector<std::filesystem::path> files;  // the CSVs
};

// Measures a plan and writes per operator a CSV that pw-train reads and a JSON file about it, both
// whole at any time and at most some seconds old. Throws DataError, before anything is measured,
// for operators that the device has no kernel for and for files that are there already (without
// resume) or come from other conditions (with it); later for a row that is faster than the
// hardware's peak, after writing what is right.
ProfileOutcome run_profile(const ProfilePlan& plan, ProfiledDevice& device,
                           const HardwareSpec& hardware, const ProfileOptions& options,
                           const std::function<void(const ProfileProgress&)>& show,
                           const std::function<bool()>& stop);

}  // namespace pw
