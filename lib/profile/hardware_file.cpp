#include <string>

#include "io/json_file.h"
#include "profile/device_query.h"
#include "pw/fields.h"

namespace pw {
namespace {

constexpr double kBytesPerKib = 1024;
// Features count 2 bytes per element, a CPU is profiled with 4: its sizes and bandwidths are told
// in bytes of half the width, so that every ratio is right.
constexpr double kCpuBytesRatio = 0.5;

// Rates of one SM and cycle that a compute capability stands for (NVIDIA's architecture white
// papers, and hardware/*.json).
struct PipeRates {
  std::int64_t major, minor;
  Architecture architecture;
  double bf16, fp8, fma;
};
constexpr PipeRates kPipeRates[] = {
    {8, 0, Architecture::ampere, 2048, 0, 64},
    {8, 6, Architecture::ampere, 1024, 0, 128},
    {8, 9, Architecture::ada, 1024, 2048, 128},
    {9, 0, Architecture::hopper, 4096, 8192, 128},
    {10, 0, Architecture::blackwell, 8192, 16384, 128},
    {12, 0, Architecture::blackwell, 1024, 2048, 128},
};

const PipeRates& pipe_rates(const DeviceInfo& device) {
  std::string known;
  for (const PipeRates& rates : kPipeRates) {
    if (rates.major == device.compute_major && rates.minor == device.compute_minor) {
      return rates;
    }
    known += (known.empty() ? "" : ", ") + std::to_string(rates.major) + "." +
             std::to_string(rates.minor);
  }
  throw DataError(device.name + " has compute capability " + std::to_string(device.compute_major) +
                  "." + std::to_string(device.compute_minor) + ", the rates are known of " + known +
                  ": write its file by hand after hardware/README.md");
}

HardwareSpec gpu_spec(const DeviceInfo& device) {
  const PipeRates& rates = pipe_rates(device);
  HardwareSpec spec;
  spec.architecture = rates.architecture;
  spec.gemm_rules = rates.major == 9 || rates.major == 10 ? GemmRules::sm90 : GemmRules::sm80;
  spec.tensor_bf16_ops_per_cycle_sm = rates.bf16;
  spec.tensor_fp8_ops_per_cycle_sm = rates.fp8;
  spec.fma_ops_per_cycle_sm = rates.fma;
  spec.xu_ops_per_cycle_sm = 16;
  spec.shared_bytes_per_cycle_sm = 128;
  spec.memory_bandwidth =
      2 * device.memory_mhz * static_cast<double>(device.memory_bus_bits) / 8 / 1e3;
  spec.shared_memory_kib = static_cast<double>(device.shared_bytes_per_core) / kBytesPerKib;
  spec.l2_cache_kib = static_cast<double>(device.cache_bytes) / kBytesPerKib;
  spec.global_memory_bytes = device.memory_bytes;
  return spec;
}

// Stand-ins, explained in docs/profiling.md.
HardwareSpec cpu_spec(const DeviceInfo& device) {
  HardwareSpec spec;
  spec.architecture = Architecture::ampere;
  spec.gemm_rules = GemmRules::sm80;
  spec.tensor_bf16_ops_per_cycle_sm = device.ops_per_cycle_core;
  spec.fma_ops_per_cycle_sm = device.ops_per_cycle_core;
  spec.xu_ops_per_cycle_sm = device.ops_per_cycle_core / 16;
  spec.shared_bytes_per_cycle_sm = kCpuBytesRatio * 2 * device.ops_per_cycle_core;
  spec.shared_memory_kib = 164;
  spec.l2_cache_kib = kCpuBytesRatio * static_cast<double>(device.cache_bytes) / kBytesPerKib;
  spec.global_memory_bytes =
      static_cast<std::int64_t>(kCpuBytesRatio * static_cast<double>(device.memory_bytes));
  return spec;
}

void put(Json& json, const char* key, double value) {
  if (value > 0) {
    json[key] = value;
  }
}

}  // namespace

HardwareSpec nominal_spec(const DeviceInfo& device) {
  HardwareSpec spec = device.is_gpu ? gpu_spec(device) : cpu_spec(device);
  spec.name = device.name;
  spec.num_sms = device.cores;
  spec.sm_freq_mhz = device.clock_mhz;
  return spec;
}

std::string hardware_json(const HardwareSpec& spec, const DeviceInfo& device,
                          const std::vector<std::string>& notes) {
  Json json = {{"name", spec.name}, {"architecture", to_string(spec.architecture)}};
  if (device.is_gpu) {
    json["computeMajor"] = device.compute_major;
    json["computeMinor"] = device.compute_minor;
  }
  json["gemmRules"] = to_string(spec.gemm_rules);
  json["numSms"] = spec.num_sms;
  put(json, "smFreq", spec.sm_freq_mhz);
  put(json, "memBandwidth", spec.memory_bandwidth);
  put(json, "l2CacheBandwidth", spec.l2_bandwidth);
  put(json, "sharedMemoryBandwidth", spec.shared_bytes_per_cycle_sm);
  put(json, "tcBf16", spec.tensor_bf16_ops_per_cycle_sm);
  put(json, "tcFp8", spec.tensor_fp8_ops_per_cycle_sm);
  put(json, "tcFp4", spec.tensor_fp4_ops_per_cycle_sm);
  put(json, "xuFp32", spec.xu_ops_per_cycle_sm);
  put(json, "FmaFp32", spec.fma_ops_per_cycle_sm);
  put(json, "sharedMemorySize", spec.shared_memory_kib);
  put(json, "registerFileSize", static_cast<double>(device.register_bytes_per_core) / kBytesPerKib);
  put(json, "l2CacheSize", spec.l2_cache_kib);
  if (spec.global_memory_bytes > 0) {
    json["totalGlobalMem"] = spec.global_memory_bytes;
  }
  put(json, "sustainedTensorFraction", spec.sustained_tensor_fraction.value_or(0));
  put(json, "sustainedDramFraction", spec.sustained_dram_fraction.value_or(0));
  if (spec.interconnect) {
    json["interconnect"] = to_string(*spec.interconnect);
    json["interconnectBandwidth"] = *spec.interconnect_gb_per_s;
  }
  json["notes"] = notes;
  return to_json_text(json) + "\n";
}

DeviceState device_state(const DeviceInfo& device) {
  if (device.is_gpu) {
    return gpu_state();
  }
  return {cpu_clock_mhz(), 0, free_cpu_bytes()};
}

}  // namespace pw
