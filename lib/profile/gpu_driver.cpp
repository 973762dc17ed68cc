#include <array>
#include <cstring>
#include <string>

#include <dlfcn.h>

#include "profile/device_query.h"
#include "pw/fields.h"

// NVIDIA's driver is asked through its two libraries, loaded at run time and without CUDA's
// headers: the same program runs where there is no GPU. Names and numbers are those of the
// documented, stable interfaces of cuda.h and nvml.h.
namespace pw {
namespace {

class Library {
 public:
  explicit Library(const char* name) : name_(name), handle_(dlopen(name, RTLD_NOW)) {
    if (handle_ == nullptr) {
      throw DataError(std::string("NVIDIA's driver library ") + name +
                      " is not there: choose the device cpu, or a machine with an NVIDIA GPU");
    }
  }

  template <class... Arguments>
  void call(const char* function, Arguments... arguments) const {
    auto* entry = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, function));
    const int error = entry == nullptr ? -1 : entry(arguments...);
    if (error != 0) {
      throw DataError(std::string(name_) + ": " + function + " failed with code " +
                      std::to_string(error) + ": is a GPU visible here?");
    }
  }

 private:
  const char* name_;
  void* handle_;
};

// CUdevice_attribute
enum Attribute {
  kClockKhz = 13,
  kMultiprocessors = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedBytesPerSm = 81,
  kRegistersPerSm = 82,
};

class CudaDriver {
 public:
  CudaDriver() {
    library_.call("cuInit", 0u);
    library_.call("cuDeviceGet", &device_, 0);
  }

  int attribute(Attribute which) const {
    int value = 0;
    library_.call("cuDeviceGetAttribute", &value, static_cast<int>(which), device_);
    return value;
  }
  std::string name() const {
    std::array<char, 256> text{};
    library_.call("cuDeviceGetName", text.data(), static_cast<int>(text.size()), device_);
    return text.data();
  }
  std::string bus_id() const {
    std::array<char, 64> text{};
    library_.call("cuDeviceGetPCIBusId", text.data(), static_cast<int>(text.size()), device_);
    return text.data();
  }
  std::int64_t memory_bytes() const {
    std::size_t bytes = 0;
    library_.call("cuDeviceTotalMem_v2", &bytes, device_);
    return static_cast<std::int64_t>(bytes);
  }

 private:
  Library library_{"libcuda.so.1"};
  int device_ = 0;
};

class ManagementDriver {
 public:
  ManagementDriver() {
    library_.call("nvmlInit_v2");
    const std::string bus_id = CudaDriver().bus_id();
    library_.call("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &device_);
  }

  std::string driver_version() const {
    std::array<char, 96> text{};
    library_.call("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()));
    return text.data();
  }
  DeviceState state() const {
    constexpr int kSmClock = 1;
    struct {
      unsigned long long total, free, used;
    } memory{};
    unsigned clock_mhz = 0, limit_mw = 0;
    library_.call("nvmlDeviceGetMemoryInfo", device_, static_cast<void*>(&memory));
    library_.call("nvmlDeviceGetClockInfo", device_, kSmClock, &clock_mhz);
    library_.call("nvmlDeviceGetPowerManagementLimit", device_, &limit_mw);
    return {static_cast<double>(clock_mhz), limit_mw / 1e3, static_cast<std::int64_t>(memory.free)};
  }

 private:
  Library library_{"libnvidia-ml.so.1"};
  void* device_ = nullptr;
};

const ManagementDriver& management() {
  static const ManagementDriver driver;
  return driver;
}

}  // namespace

DeviceInfo gpu_info() {
  const CudaDriver driver;
  DeviceInfo info;
  info.is_gpu = true;
  info.name = driver.name();
  info.driver = "NVIDIA " + management().driver_version();
  info.cores = driver.attribute(kMultiprocessors);
  info.clock_mhz = driver.attribute(kClockKhz) / 1e3;
  info.memory_mhz = driver.attribute(kMemoryClockKhz) / 1e3;
  info.memory_bus_bits = driver.attribute(kMemoryBusBits);
  info.cache_bytes = driver.attribute(kL2Bytes);
  info.memory_bytes = driver.memory_bytes();
  info.shared_bytes_per_core = driver.attribute(kSharedBytesPerSm);
  info.register_bytes_per_core = std::int64_t{driver.attribute(kRegistersPerSm)} * 4;
  info.compute_major = driver.attribute(kComputeMajor);
  info.compute_minor = driver.attribute(kComputeMinor);
  return info;
}

DeviceState gpu_state() { return management().state(); }

}  // namespace pw
