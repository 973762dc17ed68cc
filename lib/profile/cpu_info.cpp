#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/utsname.h>
#include <unistd.h>

#include "io/numbers.h"
#include "io/text.h"
#include "profile/device_query.h"

namespace pw {
namespace {

// What stands after the colon in the lines of a file that start with `key`.
std::vector<std::string> values_of(const char* path, std::string_view key) {
  std::vector<std::string> values;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.compare(0, key.size(), key) == 0 && colon != std::string::npos) {
      values.emplace_back(trimmed(line.substr(colon + 1)));
    }
  }
  return values;
}

// The first of them; empty when there is none.
std::string value_of(const char* path, std::string_view key) {
  const std::vector<std::string> values = values_of(path, key);
  return values.empty() ? "" : values.front();
}

// The number that a text like "32768 kB" or "32M" starts with; 0 = none.
double number_in(std::string_view text) {
  return parse_number(text.substr(0, text.find_first_not_of("0123456789."))).value_or(0);
}

// Additions of registers that wait for each other: no processor takes less than a cycle for each,
// and every current one takes no more. Constants would not do: since Golden Cove (2021) Intel's
// cores add small ones while they rename registers, several in a cycle.
double measured_clock_mhz() {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kAdditions = 1'600'000;
  double best = 0;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto start = Clock::now();
    std::int64_t sum = 0;
    std::int64_t step = 1;
    for (std::int64_t i = 0; i < kAdditions / 16; ++i) {
      for (int addition = 0; addition < 16; ++addition) {
        sum += step;
        asm volatile("" : "+r"(sum), "+r"(step));  // keeps every addition, and `step` unknown
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
  // Virtual machines may lack these files, and tell a last level of the whole chip, of which they
  // have an unknown share: their core's own cache then.
  if (largest == 0) {
    largest = std::max<std::int64_t>(0, ::sysconf(_SC_LEVEL2_CACHE_SIZE));
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

double cpu_clock_mhz() {
  double fastest = 0;
  for (const std::string& value : values_of("/proc/cpuinfo", "cpu MHz")) {
    fastest = std::max(fastest, number_in(value));
  }
  return fastest;
}

double plausible_clock_mhz(double reported, double measured) {
  // Reported may be the base clock, on a virtual machine always: boosts reach 2.9 times of it.
  constexpr double kMostBoost = 3;
  const bool refused = reported > 0 && measured > kMostBoost * reported;
  return refused ? reported : std::max(reported, measured);
}

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
  const double measured = measured_clock_mhz();  // before the question: an idle core runs slowly
  info.clock_mhz = plausible_clock_mhz(cpu_clock_mhz(), measured);
  info.cache_bytes = cache_bytes();
  info.memory_bytes = kibibytes(value_of("/proc/meminfo", "MemTotal"));
  info.ops_per_cycle_core = fp32_ops_per_cycle();
  return info;
}

}  // namespace pw
