#include <algorithm>

#include "compare/case_name.h"
#include "compare/csv_values.h"
#include "compare/tolerant_json.h"
#include "pw/comparison.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr double kMsPerSecond = 1000;
constexpr PerMetric<const char*> kSglangKeys{
    {"prefill_latency", "median_decode_latency", "total_latency"}};

MeasuredRun read_run(const JsonFields& line, const Json& object, std::size_t index,
                     const Warn& warn) {
  MeasuredRun run;
  run.iteration = static_cast<std::int64_t>(index);
  for (const char* key : {"iteration", "iterations"}) {
    if (line.has(key)) run.iteration = line.integer(key);
  }
  for (const Metric metric : kMetrics) {
    std::string reason;
    run.ms[metric] = usable_time(object, kSglangKeys[metric], kMsPerSecond, reason);
    if (!run.ms[metric]) {
      warn(line.where(kSglangKeys[metric]) + " " + reason + " in iteration " +
           std::to_string(run.iteration) + ", n/a");
    }
  }
  return run;
}

// "e2e_[tp<N>_][pp<N>_]<GPU>.jsonl"; GPU and sizes stay untold for another name.
MeasuredCase sglang_case(const fs::path& path, const HardwareCatalog& catalog) {
  MeasuredCase measured;
  measured.file = path;
  measured.engine = "sglang";
  measured.covers = {{true, true, true}};
  const std::string stem = path.stem().string();
  constexpr std::string_view kPrefix = "e2e_";
  if (stem.substr(0, kPrefix.size()) != kPrefix) return measured;
  std::int64_t tp = 1, pp = 1;
  std::size_t at = kPrefix.size();
  for (std::size_t end = stem.find('_', at); end != std::string::npos; end = stem.find('_', at)) {
    const std::string part = stem.substr(at, end - at);
    if (!parse_size(part, "tp", tp) && !parse_size(part, "pp", pp)) break;
    at = end + 1;
  }
  measured.tp = tp;
  measured.pp = pp;
  measured.gpu = gpu_name(stem.substr(at), catalog);
  return measured;
}

std::vector<MeasuredCase> read_sglang(const fs::path& path, const HardwareCatalog& catalog,
                                      const Warn& warn) {
  std::vector<MeasuredCase> cases;
  for (const JsonLine& line : read_json_lines(path, warn)) {
    const JsonFields fields(line.value,
                            path.string() + ":" + std::to_string(line.number) + ": run");
    const auto name = line.value.find("run_name");
    if (name == line.value.end() || !name->is_string() || *name == "") {
      warn(fields.where("run_name") + " is missing or empty, the run is left out");
      continue;
    }
    const std::string run_name = *name;
    auto found = std::find_if(cases.begin(), cases.end(),
                              [&](const MeasuredCase& each) { return each.run_name == run_name; });
    if (found == cases.end()) {
      found = cases.insert(cases.end(), sglang_case(path, catalog));
      found->run_name = run_name;
    }
    found->runs.push_back(read_run(fields, line.value, found->runs.size(), warn));
  }
  if (cases.empty()) throw DataError(path.string() + " holds no run with a run_name");
  return cases;
}

// "vllm_<trace>_<GPU>_<model tag>.json"; nothing is told by another name.
MeasuredCase vllm_case(const fs::path& path, const HardwareCatalog& catalog) {
  MeasuredCase measured;
  measured.file = path;
  measured.engine = "vllm";
  measured.covers[Metric::total] = true;
  measured.run_name = path.stem().string();
  const std::vector<std::string> parts = split(measured.run_name, '_');
  if (parts.size() < 4 || parts.front() != "vllm") return measured;
  measured.trace = parts[1];
  std::string gpu = parts[2];
  for (std::size_t i = 3; i + 1 < parts.size(); ++i) gpu += "_" + parts[i];
  measured.gpu = gpu_name(gpu, catalog);
  measured.run_name = lower_case(parts.back());
  return measured;
}

std::vector<MeasuredCase> read_vllm(const fs::path& path, const HardwareCatalog& catalog,
                                    const Warn& warn) {
  const Json json = read_tolerant_json(path, warn);
  const JsonFields file(json, path.string());
  MeasuredCase measured = vllm_case(path, catalog);
  if (!file.has("latencies") && !file.has("avg_latency")) {
    throw DataError(file.where("latencies") +
                    " is missing: expected a result of vLLM's latency benchmark, with latencies "
                    "or avg_latency in seconds");
  }
  Json latencies = Json::array();
  if (file.has("latencies")) {
    latencies = file.array("latencies");
  } else {
    warn(file.where("latencies") + " is missing, avg_latency counts as one run");
    latencies.push_back(json["avg_latency"]);
  }
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    std::string reason;
    MeasuredRun run;
    run.iteration = static_cast<std::int64_t>(i);
    const Json entry{{"latency", latencies[i]}};
    run.ms[Metric::total] = usable_time(entry, "latency", kMsPerSecond, reason);
    if (!run.ms[Metric::total]) {
      warn(file.where("latencies") + "[" + std::to_string(i) + "] " + reason + ", n/a");
    }
    measured.runs.push_back(run);
  }
  return {measured};
}

std::vector<MeasuredCase> read_csv_measurements(const fs::path& path,
                                                const HardwareCatalog& catalog, const Warn& warn) {
  std::vector<MeasuredCase> cases;
  for (const CsvCase& row : read_csv_values(path, CsvSide::measured, warn)) {
    MeasuredCase measured;
    measured.file = path;
    measured.run_name = row.name;
    measured.told = parse_case_name(row.name);
    if (measured.told) measured.told->gpu = gpu_name(measured.told->gpu, catalog);
    for (const Metric metric : kMetrics) {
      const auto& values = row.values[metric];
      measured.covers[metric] = !values.empty();
      measured.runs.resize(std::max(measured.runs.size(), values.size()));
      for (std::size_t i = 0; i < values.size(); ++i) {
        measured.runs[i].iteration = static_cast<std::int64_t>(i);
        measured.runs[i].ms[metric] = values[i];
      }
    }
    cases.push_back(std::move(measured));
  }
  return cases;
}

std::vector<MeasuredCase> read_measurement_file(const fs::path& path,
                                                const HardwareCatalog& catalog, const Warn& warn) {
  if (path.extension() == ".csv") return read_csv_measurements(path, catalog, warn);
  if (path.extension() == ".json") return read_vllm(path, catalog, warn);
  return read_sglang(path, catalog, warn);
}

// Whether a file of a folder is taken for a measurement.
bool is_measurement(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto begins = [&](std::string_view prefix) {
    return name.compare(0, prefix.size(), prefix) == 0;
  };
  return (path.extension() == ".jsonl" && begins("e2e_")) ||
         (path.extension() == ".json" && begins("vllm_")) || path.extension() == ".csv";
}

}  // namespace

std::vector<MeasuredCase> read_measurements(const fs::path& path, const HardwareCatalog& catalog,
                                            const Warn& warn) {
  if (!fs::is_directory(path)) return read_measurement_file(path, catalog, warn);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (is_measurement(entry.path())) {
      files.push_back(entry.path());
    } else {
      warn(entry.path().string() +
           " is not read: expected e2e_*.jsonl (SGLang), vllm_*.json (vLLM) or *.csv");
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<MeasuredCase> measured;
  for (const fs::path& file : files) {
    for (MeasuredCase& each : read_measurement_file(file, catalog, warn)) {
      measured.push_back(std::move(each));
    }
  }
  if (measured.empty()) {
    throw DataError("the folder '" + path.string() +
                    "' holds no measurement: expected e2e_*.jsonl, vllm_*.json or *.csv");
  }
  return measured;
}

}  // namespace pw
