#include "profile/profile_table.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "io/csv_table.h"
#include "io/files.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kConditions[] = "conditions";
constexpr char kClocks[] = "clocks";

// Columns of the published files that repeat the GPU's rates.
struct HardwareColumn {
  const char* name;
  double (*of)(const HardwareSpec&);
};
constexpr HardwareColumn kHardwareColumns[] = {
    {"tc_bf16", [](const HardwareSpec& h) { return h.tensor_bf16_ops_per_cycle_sm; }},
    {"xu_fp32", [](const HardwareSpec& h) { return h.xu_ops_per_cycle_sm; }},
    {"fma_fp32", [](const HardwareSpec& h) { return h.fma_ops_per_cycle_sm; }},
    {"num_sms", [](const HardwareSpec& h) { return static_cast<double>(h.num_sms); }},
    {"sm_freq", [](const HardwareSpec& h) { return h.sm_freq_mhz; }},
    {"mem_bandwidth", [](const HardwareSpec& h) { return h.memory_bandwidth; }},
    {"l2_cache_bandwidth", [](const HardwareSpec& h) { return h.l2_bandwidth; }},
    {"shared_memory_bandwidth", [](const HardwareSpec& h) { return h.shared_bytes_per_cycle_sm; }},
};
constexpr const char* kMethodColumns[] = {"weight_copies", "operands",  "spread",       "samples",
                                          "rounds",        "clock_mhz", "kernel_source"};

std::string joined(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += (line.empty() ? "" : ",") + csv_cell(cell);
  }
  return line;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

void widen(Json& clocks, const char* lowest, const char* highest, double value) {
  if (value > 0) {
    clocks[lowest] = std::min(value, clocks.value(lowest, value));
    clocks[highest] = std::max(value, clocks.value(highest, value));
  }
}

}  // namespace

ProfileTable::ProfileTable(const OperatorFamily& family, const HardwareSpec& hardware,
                           const ProfileOptions& options, Json sidecar)
    : family_(family),
      hardware_(hardware),
      options_(options),
      csv_(options.output / (std::string(family.name) + ".csv")),
      json_(options.output / (std::string(family.name) + ".json")),
      sidecar_(std::move(sidecar)) {
  sidecar_["operator"] = family.name;
  sidecar_["data"] = csv_.filename().string();
  sidecar_["started"] = utc_now();
  sidecar_[kClocks] = Json::object();
  sidecar_["not_measured"] = Json::array();
  if (!fs::exists(csv_)) {
    return;
  }
  if (!options_.resume) {
    throw DataError(csv_.string() + " exists: go on with it by --resume, or give another --output");
  }
  resume();
}

std::vector<std::string> ProfileTable::header() const {
  std::vector<std::string> names(family_.problem_columns.begin(), family_.problem_columns.end());
  names.insert(names.end(), {"avg_duration", "hardware"});
  for (const HardwareColumn& column : kHardwareColumns) {
    names.emplace_back(column.name);
  }
  if (options_.with_features) {
    for (const Feature& feature : *family_.features) {
      names.emplace_back(feature.name);
    }
    names.emplace_back("overall_perf");
  }
  names.insert(names.end(), std::begin(kMethodColumns), std::end(kMethodColumns));
  return names;
}

void ProfileTable::resume() {
  const Json before = read_json(json_);
  const JsonFields fields(before, json_.string());
  const Json& conditions = fields.object(kConditions);
  for (const auto& [name, value] : sidecar_[kConditions].items()) {
    if (!conditions.contains(name) || conditions[name] != value) {
      throw DataError(fields.where(kConditions) + " has " + name + " " +
                      (conditions.contains(name) ? conditions[name].dump() : "(none)") +
                      ", but now it is " + value.dump() + ": start a new --output");
    }
  }
  sidecar_["started"] = fields.text("started");
  sidecar_[kClocks] = fields.object(kClocks);
  const CsvTable table = CsvTable::read(csv_);
  table.require_no_bad_lines();
  if (table.header() != header()) {
    throw DataError(csv_.string() +
                    " has other columns than this run would write: start a new "
                    "--output, or choose the same columns");
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string> cells;
    for (std::size_t column = 0; column < table.header().size(); ++column) {
      cells.emplace_back(table.cell(row, column));
    }
    lines_.push_back(joined(cells));
    cells.resize(family_.problem_columns.size());
    problems_.insert(std::move(cells));
  }
}

bool ProfileTable::has(const OperatorConfig& config) const {
  return problems_.count(problem_cells(config)) != 0;
}

void ProfileTable::add(const ProfileRow& row) {
  std::vector<std::string> cells = problem_cells(row.config);
  problems_.insert(cells);
  cells.push_back(python_repr(row.measurement.median_us));
  cells.push_back(hardware_.name);
  for (const HardwareColumn& column : kHardwareColumns) {
    cells.push_back(python_repr(column.of(hardware_)));
  }
  if (options_.with_features) {
    const PipelineFeatures features = analyze_operator(row.config, hardware_);
    for (const Feature& feature : *family_.features) {
      cells.push_back(python_repr(feature.of(features)));
    }
    cells.push_back(python_repr(
        efficiency_of(ideal_cycles<double>(features), row.measurement.median_us, hardware_)));
  }
  cells.push_back(std::to_string(row.operand_sets));
  cells.emplace_back(to_string(options_.operands));
  cells.push_back(python_repr(round_decimals(row.measurement.spread, 4)));
  cells.push_back(std::to_string(row.measurement.samples));
  cells.push_back(std::to_string(row.measurement.rounds));
  cells.push_back(row.clock_mhz > 0 ? python_repr(row.clock_mhz) : "");
  cells.push_back(row.kernel_source);
  lines_.push_back(joined(cells));
}

void ProfileTable::add_not_measured(const std::string& problem_and_reason) {
  sidecar_["not_measured"].push_back(problem_and_reason);
}

void ProfileTable::see(const DeviceState& state) {
  widen(sidecar_[kClocks], "lowest_mhz", "highest_mhz", state.clock_mhz);
  widen(sidecar_[kClocks], "lowest_power_limit_w", "highest_power_limit_w", state.power_limit_w);
}

void ProfileTable::write() {
  std::string text = joined(header()) + "\n";
  for (const std::string& line : lines_) {
    text += line + "\n";
  }
  sidecar_["rows"] = lines_.size();
  sidecar_["written"] = utc_now();
  write_file_atomic(json_, to_json_text(sidecar_) + "\n");
  write_file_atomic(csv_, text);
}

}  // namespace pw
