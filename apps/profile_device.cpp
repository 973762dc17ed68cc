#include "profile_device.h"

#include "profile/torch_profiling.h"
#include "pw/data_paths.h"
#include "torch_engine.h"

namespace pw {

void add_device_options(cli::App& command, DeviceArguments& arguments) {
  command
      .add_option("--device", arguments.device, "What runs the kernels (cpu); cuda: the first GPU")
      ->check(cli::IsMember({"cpu", "cuda"}))
      ->option_text("cpu|cuda")
      ->group("Device");
  command.add_option("--threads", arguments.threads, "Threads of a CPU (all cores)")
      ->check(cli::PositiveNumber())
      ->option_text("N")
      ->group("Device");
  command
      .add_option("--hardware-dir", arguments.hardware_folder, "Folder of hardware files (*.json)")
      ->option_text("FOLDER")
      ->group("Device");
}

std::unique_ptr<ProfiledDevice> open_device(const DeviceArguments& arguments) {
  return torch_engine("pw-profile").profiling->open_device(arguments.device, arguments.threads);
}

HardwareSpec hardware_of(const ProfiledDevice& device, const DeviceArguments& arguments) {
  const std::filesystem::path folder = find_data_folder("hardware", arguments.hardware_folder);
  const std::string& name = device.info().name;
  const HardwareCatalog catalog = HardwareCatalog::read(folder);
  if (const HardwareSpec* spec = catalog.find(name)) {
    return *spec;
  }
  throw DataError("the folder " + folder.string() + " has no file of '" + name +
                  "': write one with pw-profile spec --output FOLDER/NAME.json and give its folder "
                  "as --hardware-dir");
}

}  // namespace pw
