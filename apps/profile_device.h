#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli.h"
#include "pw/hardware_catalog.h"
#include "pw/profiling.h"

namespace pw {

// The options of all pw-profile commands that say what runs.
struct DeviceArguments {
  std::string device = "cpu";
  std::int64_t threads = 0;
  std::optional<std::filesystem::path> hardware_folder;
};
void add_device_options(cli::App& command, DeviceArguments& arguments);

std::unique_ptr<ProfiledDevice> open_device(const DeviceArguments& arguments);

// The hardware file of a device, by its name; throws DataError that says how to make one.
HardwareSpec hardware_of(const ProfiledDevice& device, const DeviceArguments& arguments);

}  // namespace pw
