#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <sys/utsname.h>

#include "io/text.h"
#include "profile/device_query.h"

namespace pw {
namespace {

// The value behind the first line of a file that starts with `key`, without the colon.
std::string value_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      const std::size_t colon = line.find(':');
      return colon == std::string::npos ? "" : std::string(trimmed(line.substr(colon + 1)));
    }
  }
  return "";
}

double number_in(const std::string& text) {
  try {
    return std::stod(text);
  } catch (const std::exception&) {
    return 0;
  }
}

// Additions that wait for each other take one cycle each on every current processor.
double measured_clock_mhz() {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kAdditions = 1'600'000;
  double best = 0;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto start = Clock::now();
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < kAdditions / 16; ++i) {
      for (int step = 0; step < 16; ++step) {
        sum += step + 1;
        asm volatile("" : "+r"(sum));  // keeps every addition
      }
    }
    const std::chrono::duration<double, std::micro> us = Clock::now() - start;
    best = std::max(best, static_cast<double>(kAdditions) / us.count());
  }
  return best;
}

std::int64_t cache_bytes() {
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    std::string size;
    if (file >> size) {
      largest = std::max(largest, static_cast<std::int64_t>(number_in(size)) *
                                      (size.back() == 'M' ? 1 << 20 : 1 << 10));
    }
  }
  return largest;
}

// An upper limit: two units of the widest vectors that the processor has.
double fp32_ops_per_cycle() {
  const std::string flags = " " + value_of("/proc/cpuinfo", "flags") + " ";
  const auto has = [&](const char* flag) { return flags.find(flag) != std::string::npos; };
  const int lanes = has(" avx512f ") ? 16 : has(" fma ") ? 8 : 4;
  return 2 * 2 * lanes;
}

std::int64_t kibibytes(const std::string& text) {
  return static_cast<std::int64_t>(number_in(text)) * 1024;
}

}  // namespace

double cpu_clock_mhz() { return number_in(value_of("/proc/cpuinfo", "cpu MHz")); }

std::int64_t free_cpu_bytes() { return kibibytes(value_of("/proc/meminfo", "MemAvailable")); }

DeviceInfo cpu_info(std::int64_t threads) {
  DeviceInfo info;
  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  info.cores = threads > 0 ? std::min(threads, cores) : cores;
  std::string model = value_of("/proc/cpuinfo", "model name");
  utsname system{};
  uname(&system);
  info.name = (model.empty() ? std::string(system.machine) : model) + " (CPU, " +
              std::to_string(info.cores) + (info.cores == 1 ? " thread)" : " threads)");
  info.driver = std::string(system.sysname) + " " + system.release;
  info.clock_mhz = std::max(cpu_clock_mhz(), measured_clock_mhz());
  info.cache_bytes = cache_bytes();
  info.memory_bytes = kibibytes(value_of("/proc/meminfo", "MemTotal"));
  info.ops_per_cycle_core = fp32_ops_per_cycle();
  return info;
}

}  // namespace pw
