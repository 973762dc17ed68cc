#include "profile_spec.h"

#include <iostream>
#include <memory>
#include <sstream>

#include "app.h"
#include "io/files.h"
#include "profile/torch_profiling.h"
#include "profile_device.h"
#include "pw/data_paths.h"
#include "torch_engine.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  DeviceArguments device;
  fs::path output;
};

constexpr double kBytesPerUsPerGb = 1e3;
// In a CPU's file: bytes of 2 per element stand for the 4 that move (docs/profiling.md).
constexpr double kCpuBytesRatio = 0.5;

std::string in_words(const char* what, double rate, const char* unit) {
  std::ostringstream text;
  text << what << " " << rate << " " << unit;
  return text.str();
}

// What the driver does not tell, where the shipped files know this GPU.
void complete_from_catalog(const Arguments& arguments, HardwareSpec& spec,
                           std::vector<std::string>& notes) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", arguments.device.hardware_folder));
  if (const HardwareSpec* known = catalog.find(spec.name)) {
    spec.l2_bandwidth = known->l2_bandwidth;
    spec.interconnect = known->interconnect;
    spec.interconnect_gb_per_s = known->interconnect_gb_per_s;
    notes.push_back("l2CacheBandwidth and interconnect of " + known->stem + ".json");
  }
}

void complete_gpu(const Arguments& arguments, const SustainedRates& rates, HardwareSpec& spec,
                  std::vector<std::string>& notes) {
  notes.emplace_back(
      "SMs, clocks, sizes and memory bandwidth as the driver tells them, rates of the "
      "pipes by compute capability");
  complete_from_catalog(arguments, spec, notes);
  if (spec.l2_bandwidth == 0) {
    spec.l2_bandwidth = rates.cache_bytes_per_us / kBytesPerUsPerGb;
    notes.emplace_back("l2CacheBandwidth is that of a copy within the L2, read and written");
  }
  spec.sustained_dram_fraction = rates.copy_bytes_per_us / kBytesPerUsPerGb / spec.memory_bandwidth;
}

void complete_cpu(const SustainedRates& rates, HardwareSpec& spec,
                  std::vector<std::string>& notes) {
  notes.emplace_back(
      "a CPU with stand-ins for the fields of a GPU, see docs/profiling.md; sizes and "
      "bandwidths are halved because it runs float32 where features count 2 bytes");
  const double fastest = std::max(rates.copy_bytes_per_us, rates.read_bytes_per_us);
  spec.memory_bandwidth = kCpuBytesRatio * fastest / kBytesPerUsPerGb;
  spec.l2_bandwidth =
      kCpuBytesRatio * std::max(rates.cache_bytes_per_us, fastest) / kBytesPerUsPerGb;
  spec.sustained_dram_fraction = rates.copy_bytes_per_us / fastest;
}

void require_at_most_nominal(double fraction, const char* what, const HardwareSpec& spec) {
  if (!(fraction <= 1)) {
    throw DataError(std::string(what) + " of " + spec.name + " was measured at " +
                    std::to_string(fraction) +
                    " of the nominal rate, expected at most 1: the clock or width that the device "
                    "tells is wrong");
  }
}

int run(const Arguments& arguments) {
  const std::unique_ptr<ProfiledDevice> device = open_device(arguments.device);
  HardwareSpec spec = nominal_spec(device->info());
  std::cerr << spec.name << ", " << device->library() << ": measuring\n";
  const SustainedRates rates = torch_engine("pw-profile spec").profiling->measure_rates(*device);
  std::vector<std::string> notes{"written by pw-profile " PW_VERSION " spec with " +
                                 device->library()};
  if (device->info().is_gpu) {
    complete_gpu(arguments, rates, spec, notes);
  } else {
    complete_cpu(rates, spec, notes);
  }
  const double peak = spec.tensor_bf16_ops_per_cycle_sm * static_cast<double>(spec.num_sms) *
                      spec.sm_freq_mhz;  // per us
  spec.sustained_tensor_fraction = rates.matrix_ops_per_us / peak;
  require_at_most_nominal(*spec.sustained_tensor_fraction, "the matrix product", spec);
  require_at_most_nominal(*spec.sustained_dram_fraction, "the copy", spec);
  notes.push_back(in_words("measured: matrix product", rates.matrix_ops_per_us / 1e6, "TFLOP/s") +
                  in_words(", copy", rates.copy_bytes_per_us / 1e3, "GB/s read and written") +
                  in_words(", reading", rates.read_bytes_per_us / 1e3, "GB/s"));
  write_file_atomic(arguments.output, hardware_json(spec, device->info(), notes));
  for (const std::string& note : notes) {
    std::cerr << "note: " << note << '\n';
  }
  std::cout << arguments.output.string() << '\n';
  return kDone;
}

}  // namespace

void add_spec_command(cli::App& app, std::function<int()>& action) {
  cli::App* command = app.add_subcommand(
      "spec", "Write the hardware file of this device, with measured sustained rates");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("--output", arguments->output, "The file; its stem is the short name")
      ->option_text("FILE.json")
      ->required();
  add_device_options(*command, arguments->device);
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace pw
