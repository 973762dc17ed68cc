#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>

#include "comma_list.h"
#include "peak_check.h"
#include "profile/profile_table.h"
#include "profile/sampling.h"

namespace pw {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kWriteInterval = std::chrono::seconds(5);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

SamplingOptions sampling_for(const DeviceInfo& device) {
  SamplingOptions sampling;
  if (device.is_gpu) {  // a finer clock and steadier durations
    sampling.least_sample_us = 200;
    sampling.warm_up_us = 5e3;
    sampling.round_us = 30e3;
  }
  return sampling;
}

Json method_json(const SamplingOptions& sampling, const ProfiledDevice& device,
                 const ProfileOptions& options) {
  return {
      {"clock", device.info().is_gpu ? "device events around calls that are queued behind other "
                                       "work, so that launching is not timed"
                                     : "steady clock of the host"},
      {"avg_duration", "median of the samples, each the mean of calls back to back, us"},
      {"spread", "(third quartile - first quartile) / median of the samples"},
      {"warm_up_us", sampling.warm_up_us},
      {"least_sample_us", sampling.least_sample_us},
      {"samples", {sampling.least_samples, sampling.most_samples}},
      {"repeated_above_spread", sampling.wide_spread},
      {"most_rounds", sampling.most_rounds},
      {"operands", options.operands == Operands::cold
                       ? "random; calls take one set after the other, weight_copies in turn, "
                         "together several times the last cache"
                       : "random; all calls take the same set"}};
}

Json sidecar_of(const ProfiledDevice& device, const HardwareSpec& hardware,
                const ProfileOptions& options, const ProfilePlan& plan,
                const SamplingOptions& sampling) {
  const DeviceInfo& info = device.info();
  return {{"tool", "pw-profile " PW_VERSION},
          {"conditions",
           {{"device", info.name},
            {"driver", info.driver},
            {"hardware", hardware.name},
            {"library", device.library()},
            {"dtype", device.dtype()},
            {"operands", to_string(options.operands)}}},
          {"library_build", device.library_build()},
          {"device_memory_bytes", info.memory_bytes},
          {"device_cache_bytes", info.cache_bytes},
          {"device_cores", info.cores},
          {"method", method_json(sampling, device, options)},
          {"plan", {{"name", options.plan_name}, {"problems", plan.size()}}}};
}

// Bytes that a call must read from DRAM whatever the cache keeps: of all sets of operands in turn
// it can hold its own size at most.
double least_dram_bytes(double bytes_per_set, std::int64_t sets, std::int64_t cache_bytes) {
  return bytes_per_set - static_cast<double>(cache_bytes) / static_cast<double>(sets);
}

void require_below_peak(const ProfileRow& row, const HardwareSpec& hardware,
                        const DeviceInfo& device) {
  const double us = row.measurement.median_us;
  const auto refuse = [&](double fraction, const std::string& what) {
    std::ostringstream text;
    text << describe(row.config) << " took " << us << " us, " << fraction << " times faster than "
         << what << " of " << hardware.name
         << ": correct its hardware file (pw-profile spec), or find out what was measured instead";
    throw DataError(text.str());
  };
  const double fraction =
      fraction_of_peak(row.config, analyze_operator(row.config, hardware), us, hardware);
  if (fraction > 1) {
    refuse(fraction, "the peak");
  }
  // The memory bandwidth of a CPU's file is measured, so that it is no limit.
  const auto* gemm = std::get_if<GemmConfig>(&row.config);
  if (gemm != nullptr && device.is_gpu) {
    const double weights = 2 * static_cast<double>(gemm->n) * static_cast<double>(gemm->k);
    const double bytes = least_dram_bytes(weights, row.operand_sets, device.cache_bytes);
    const double share = bytes / us / 1e3 / hardware.memory_bandwidth;
    if (share > 1) {
      refuse(share, "its weights can be read from the memory");
    }
  }
}

class ProfileRun {
 public:
  ProfileRun(const ProfilePlan& plan, ProfiledDevice& device, const HardwareSpec& hardware,
             const ProfileOptions& options)
      : plan_(plan),
        device_(device),
        hardware_(hardware),
        options_(options),
        sampling_(sampling_for(device.info())) {
    open_tables();
  }

  ProfileOutcome run(const std::function<void(const ProfileProgress&)>& show,
                     const std::function<bool()>& stop);

 private:
  void open_tables();
  ProfileTable& table_of(const OperatorConfig& config) {
    return tables_.at(operator_family(config).name);
  }
  std::string measure_problem(const OperatorConfig& config);
  double seconds_left(std::size_t problems_left) const;
  void write();

  const ProfilePlan& plan_;
  ProfiledDevice& device_;
  const HardwareSpec& hardware_;
  const ProfileOptions& options_;
  const SamplingOptions sampling_;
  std::map<std::string_view, ProfileTable> tables_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point written_ = start_;
  ProfileOutcome outcome_;
};

void ProfileRun::open_tables() {
  std::vector<std::string> refusals;
  for (const OperatorConfig& config : plan_) {
    const OperatorFamily& family = operator_family(config);
    if (tables_.count(family.name) != 0) {
      continue;
    }
    const std::string refusal = device_.refusal(family.name);
    if (!refusal.empty() &&
        std::find(refusals.begin(), refusals.end(), refusal) == refusals.end()) {
      refusals.push_back(refusal);
    }
    if (refusals.empty()) {
      tables_.try_emplace(family.name, family, hardware_, options_,
                          sidecar_of(device_, hardware_, options_, plan_, sampling_));
    }
  }
  if (!refusals.empty()) {
    throw DataError(comma_list(refusals) + ": choose other operators with --operator");
  }
}

std::string ProfileRun::measure_problem(const OperatorConfig& config) {
  ProfileTable& table = table_of(config);
  ProfileRow row{config, {}, 1, 0, ""};
  try {
    const std::unique_ptr<ProfiledKernel> kernel = device_.prepare(config, options_.operands);
    row.operand_sets = kernel->operand_sets();
    row.kernel_source = kernel->source();
    row.measurement =
        measure([&](std::int64_t calls) { return kernel->timed_calls_us(calls); }, sampling_);
  } catch (const DoesNotFit& error) {
    outcome_.not_measured.push_back(describe(config) + ": " + error.what());
    table.add_not_measured(outcome_.not_measured.back());
    return outcome_.not_measured.back();
  }
  const DeviceState state = device_.state();
  row.clock_mhz = state.clock_mhz;
  require_below_peak(row, hardware_, device_.info());
  table.see(state);
  table.add(row);
  ++outcome_.measured;
  std::ostringstream text;
  text << describe(config) << ": " << row.measurement.median_us << " us";
  return text.str();
}

// The order fills the space evenly, so that what is left takes as long per problem as what is done.
double ProfileRun::seconds_left(std::size_t problems_left) const {
  const double seconds = seconds_since(start_);
  const auto done = static_cast<double>(outcome_.measured + outcome_.not_measured.size());
  const double left = seconds / std::max(done, 1.0) * static_cast<double>(problems_left);
  return options_.minutes ? std::min(left, std::max(0.0, 60 * *options_.minutes - seconds)) : left;
}

void ProfileRun::write() {
  for (auto& [name, table] : tables_) {
    if (table.rows() > 0) {
      table.write();
    }
  }
  written_ = Clock::now();
}

ProfileOutcome ProfileRun::run(const std::function<void(const ProfileProgress&)>& show,
                               const std::function<bool()>& stop) {
  std::vector<const OperatorConfig*> left;
  for (const OperatorConfig& config : plan_) {
    if (!table_of(config).has(config)) {
      left.push_back(&config);
    }
  }
  outcome_.total = plan_.size();
  outcome_.from_before = plan_.size() - left.size();
  try {
    for (std::size_t i = 0; i < left.size(); ++i) {
      outcome_.stopped = stop();
      outcome_.out_of_time = options_.minutes && seconds_since(start_) > 60 * *options_.minutes;
      if (outcome_.stopped || outcome_.out_of_time) {
        break;
      }
      const std::string last = measure_problem(*left[i]);
      show({outcome_.from_before + i + 1, plan_.size(), seconds_left(left.size() - i - 1), last});
      if (Clock::now() > written_ + kWriteInterval) {
        write();
      }
    }
  } catch (...) {
    write();  // what was measured before is right
    throw;
  }
  write();
  for (const auto& [name, table] : tables_) {
    if (table.rows() > 0) {
      outcome_.files.push_back(table.path());
    }
  }
  return outcome_;
}

}  // namespace

std::string_view to_string(Operands operands) {
  return operands == Operands::cold ? "cold" : "hot";
}

Operands parse_operands(std::string_view text) {
  for (const Operands operands : {Operands::cold, Operands::hot}) {
    if (to_string(operands) == text) {
      return operands;
    }
  }
  throw DataError("operands '" + std::string(text) + "', expected cold or hot");
}

ProfileOutcome run_profile(const ProfilePlan& plan, ProfiledDevice& device,
                           const HardwareSpec& hardware, const ProfileOptions& options,
                           const std::function<void(const ProfileProgress&)>& show,
                           const std::function<bool()>& stop) {
  return ProfileRun(plan, device, hardware, options).run(show, stop);
}

}  // namespace pw
