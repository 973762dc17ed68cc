#include "pw/published_tables.h"

#include <algorithm>
#include <cmath>

#include "compare/case_name.h"
#include "compare/tolerant_json.h"
#include "io/json_file.h"
#include "pw/data_paths.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// A value of a JSON file; a missing one is the integer 0 and prints as such.
struct PublishedValue {
  double value = 0;
  bool present = false;
};
using PublishedTimes = PerMetric<PublishedValue>;

PublishedValue read_value(const Json& object, std::string_view key, double factor) {
  const auto member = object.find(key);
  if (member == object.end() || !member->is_number()) return {};
  return {member->get<double>() * factor, true};
}

std::string print(const PublishedValue& value, int decimals) {
  return value.present ? python_repr(round_decimals(value.value, decimals)) : "0";
}
std::string print(double value, int decimals) {
  return print(PublishedValue{value, true}, decimals);
}

double absolute_error(const PublishedValue& predicted, const PublishedValue& real) {
  return real.value == 0 ? 0 : std::fabs(predicted.value - real.value) / real.value * 100;
}

struct SglangRun {
  std::string name;
  PublishedTimes ms;
};

std::vector<SglangRun> read_runs(const fs::path& path, const Warn& warn) {
  constexpr double kMsPerSecond = 1000;
  std::vector<SglangRun> runs;
  for (const JsonLine& line : read_json_lines(path, warn)) {
    const JsonFields fields(line.value,
                            path.string() + ":" + std::to_string(line.number) + ": run");
    runs.push_back({fields.text("run_name"),
                    {{read_value(line.value, "prefill_latency", kMsPerSecond),
                      read_value(line.value, "median_decode_latency", kMsPerSecond),
                      read_value(line.value, "total_latency", kMsPerSecond)}}});
  }
  return runs;
}

struct RunErrors {
  PublishedTimes real;
  PerMetric<double> percent;
  double average = 0;
};

// The run closest to the prediction among those whose name is part of the pattern or the reverse.
std::optional<RunErrors> best_run(const std::vector<SglangRun>& runs, const std::string& pattern,
                                  const PublishedTimes& predicted) {
  std::optional<RunErrors> best;
  for (const SglangRun& run : runs) {
    if (run.name.find(pattern) == std::string::npos &&
        pattern.find(run.name) == std::string::npos) {
      continue;
    }
    RunErrors errors{run.ms, {}, 0};
    for (const Metric metric : kMetrics) {
      errors.percent[metric] = absolute_error(predicted[metric], run.ms[metric]);
      errors.average += errors.percent[metric];
    }
    errors.average /= static_cast<double>(kMetrics.size());
    if (!best || errors.average < best->average) best = errors;
  }
  return best;
}

struct Row {
  std::vector<std::string> sort_key;
  std::vector<std::string> cells;
};

std::string csv_text(const std::string& header, std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.sort_key < b.sort_key; });
  std::string text = header + "\r\n";
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) text += (i == 0 ? "" : ",") + row.cells[i];
    text += "\r\n";
  }
  return text;
}

struct Prediction {
  std::string method;
  CaseName name;
  Json summary;
  std::string file;
};

std::optional<Row> sglang_row(const Prediction& p, const fs::path& measurements, const Warn& warn) {
  const std::string tp = std::to_string(p.name.tp);
  const fs::path path =
      measurements / ("e2e_" + (p.name.tp == 1 ? "" : "tp" + tp + "_") + p.name.gpu + ".jsonl");
  if (!fs::exists(path)) {
    warn(p.file + " is skipped: no " + path.string());
    return std::nullopt;
  }
  const PublishedTimes predicted{{read_value(p.summary, "prefill_duration_ms", 1),
                                  read_value(p.summary, "decode_avg_duration_ms", 1),
                                  read_value(p.summary, "total_duration_ms", 1)}};
  const auto best = best_run(read_runs(path, warn), run_name_of(p.name), predicted);
  if (!best) {
    warn(p.file + " is skipped: " + path.string() + " has no run like " + run_name_of(p.name));
    return std::nullopt;
  }
  Row row{{p.name.gpu, p.name.model, p.name.trace},
          {p.name.gpu, tp, std::to_string(p.name.pp), p.name.model, p.name.trace, p.name.kernel}};
  for (const Metric metric : kMetrics) {
    row.cells.push_back(print(predicted[metric], 3));
    row.cells.push_back(print(best->real[metric], 3));
    row.cells.push_back(print(best->percent[metric], 2));
  }
  row.cells.push_back(print(best->average, 2));
  return row;
}

std::optional<Row> vllm_row(const Prediction& p, const fs::path& measurements, const Warn& warn) {
  const fs::path path =
      measurements / ("vllm_" + p.name.trace + "_" + p.name.gpu + "_llama70B.json");
  if (!fs::exists(path)) {
    warn(p.file + " is skipped: no " + path.string());
    return std::nullopt;
  }
  const PublishedValue predicted = read_value(p.summary, "total_duration_ms", 1);
  const PublishedValue real = read_value(read_json(path), "avg_latency", 1000);
  return Row{{p.method, p.name.gpu, p.name.trace},
             {p.method, p.name.gpu, p.name.trace, p.name.model, print(predicted, 3), print(real, 3),
              print(absolute_error(predicted, real), 2)}};
}

std::vector<Prediction> read_folder(const std::string& method, const fs::path& folder,
                                    const Warn& warn) {
  std::vector<Prediction> predictions;
  for (const fs::path& path : json_files(folder)) {
    const auto name = parse_case_name(path.stem().string());
    if (!name) {
      warn(path.string() +
           " is skipped: its name is not <model>_<trace>_<kernel>_tp<N>_pp<N>_<GPU>");
      continue;
    }
    const Json json = read_json(path);
    predictions.push_back(
        {method, *name, JsonFields(json, path.string()).object("summary"), path.string()});
  }
  return predictions;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> published_tables(
    const std::vector<std::pair<std::string, fs::path>>& predictions, const fs::path& measurements,
    const Warn& warn) {
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<Row> vllm_rows;
  for (const auto& [method, folder] : predictions) {
    std::vector<Row> rows;
    for (const Prediction& prediction : read_folder(method, folder, warn)) {
      const bool vllm = prediction.name.engine == "vllm";
      const auto row = vllm ? vllm_row(prediction, measurements, warn)
                            : sglang_row(prediction, measurements, warn);
      if (row) (vllm ? vllm_rows : rows).push_back(*row);
    }
    if (rows.empty()) continue;
    files.emplace_back(method + "_comparison.csv",
                       csv_text("Hardware,TP,PP,Model,Workload,FA_Version,pred_prefill_ms,"
                                "real_prefill_ms,MAPE_prefill(%),pred_decode_ms,real_decode_ms,"
                                "MAPE_decode(%),pred_total_ms,real_total_ms,MAPE_total(%),"
                                "avg_MAPE(%)",
                                std::move(rows)));
  }
  if (!vllm_rows.empty()) {
    files.emplace_back(
        "vllm_comparison.csv",
        csv_text("Method,Hardware,Workload,Model,pred_e2e_ms,real_e2e_ms,MAPE_e2e(%)",
                 std::move(vllm_rows)));
  }
  return files;
}

}  // namespace pw
