#include <algorithm>
#include <cmath>

#include "compare/case_name.h"
#include "compare/csv_values.h"
#include "compare/tolerant_json.h"
#include "fact_json.h"
#include "io/json_file.h"
#include "io/text.h"
#include "pw/comparison.h"
#include "pw/data_paths.h"
#include "pw/operators.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// "vllm_arxiv16" is how the trace of a vLLM case is called where the engine is not.
void take_engine_of_trace(CaseName& name) {
  constexpr std::string_view kPrefix = "vllm_";
  if (name.trace.substr(0, kPrefix.size()) == kPrefix) {
    name.engine = "vllm";
    name.trace.erase(0, kPrefix.size());
  }
}

// The `case` record says what was predicted; the published files say it by their names.
CaseName read_name(const JsonFields& file, const fs::path& path, const HardwareCatalog& catalog) {
  const std::string stem = path.stem().string();
  CaseName name = parse_case_name(stem).value_or(CaseName{});
  name.label = stem;
  if (file.has("tp_size")) name.tp = integer_at_least(file, "tp_size", 1);
  if (file.has("pp_size")) name.pp = integer_at_least(file, "pp_size", 1);
  if (file.has("case")) {
    const JsonFields record(file.object("case"), file.where("case"));
    const auto text = [&](const char* key) {
      const auto member = file.object("case").find(key);
      const bool empty = member == file.object("case").end() || *member == "";
      return empty ? std::string() : record.text(key);
    };
    if (const std::string gpu = text("hardware"); !gpu.empty()) name.gpu = gpu;
    if (const std::string model = text("model"), trace = text("trace");
        !model.empty() && !trace.empty()) {
      name.model = model;
      name.trace = trace;
      name.engine = text("engine").empty() ? name.engine : text("engine");
    }
  }
  if (name.gpu.empty() && file.has("hardware")) name.gpu = file.text("hardware");
  name.gpu = gpu_name(name.gpu, catalog);
  take_engine_of_trace(name);
  return name;
}

TimesMs read_times(const JsonFields& file, const Warn& warn) {
  const Json& summary = file.object("summary");
  const auto read = [&](const Json& object, const char* key, const std::string& where) {
    std::string reason;
    const auto time = usable_time(object, key, 1, reason);
    if (!time) warn(where + " " + reason + ", n/a");
    return time;
  };
  const JsonFields fields(summary, file.where("summary"));
  TimesMs ms;
  ms[Metric::prefill] = read(summary, "prefill_duration_ms", fields.where("prefill_duration_ms"));
  ms[Metric::total] = read(summary, "total_duration_ms", fields.where("total_duration_ms"));
  // The published roofline files hold an object in place of the average.
  const bool nested = !fields.has("decode_avg_duration_ms") && fields.has("decode_duration_ms");
  ms[Metric::decode] =
      nested ? read(fields.object("decode_duration_ms"), "average",
                    fields.where("decode_duration_ms") + ".average")
             : read(summary, "decode_avg_duration_ms", fields.where("decode_avg_duration_ms"));
  return ms;
}

// The member `bands` of our JSON files.
PerMetric<std::optional<RangeMs>> read_bands(const JsonFields& file) {
  PerMetric<std::optional<RangeMs>> result;
  if (!file.has("bands")) return result;
  const JsonFields bands(file.object("bands"), file.where("bands"));
  const auto read = [&](Metric metric, const char* key) {
    if (!bands.has(key)) return;
    const JsonFields band(bands.object(key), bands.where(key));
    result[metric] = RangeMs{band.number("p10"), band.number("p90")};
  };
  read(Metric::prefill, "prefill_ms");
  read(Metric::decode, "decode_avg_ms");
  read(Metric::total, "total_ms");
  return result;
}

// Whether a text of our JSON files has `part` in it.
bool has_part(const Json& value, std::string_view part) {
  return value.is_string() && value.get_ref<const std::string&>().find(part) != std::string::npos;
}

// Whether the operator models were fitted on this GPU. pw-predict names the checkpoints that it
// used, and says by a fact which of them never saw the GPU. Files from before schema_version 1 do
// not tell.
std::optional<bool> read_gpu_seen(const JsonFields& file) {
  if (!file.has("facts") || !file.has("provenance")) return std::nullopt;
  if (read_facts(file).has(FactKind::unseen_gpu)) return false;
  for (const auto& item : file.object("provenance").items()) {
    const auto& families = operator_families();
    const bool model = std::any_of(
        families.begin(), families.end(), [&key = item.key()](const OperatorFamily& family) {
          const std::string name(family.name);  // "attn", or "attn_paged" of one layout
          return key == name || key.compare(0, name.size() + 1, name + "_") == 0;
        });
    if (model && has_part(item.value(), "sha256:")) return true;
  }
  return std::nullopt;
}

struct PhaseOfFile {
  bool prefill = false;
  double share = 1;  // of a decode step in their average
};

// Of an operator, which may take no time at all; published baselines extrapolate some below 0, and
// their sums are what they published.
double operator_ms(const JsonFields& entry, const char* name) {
  const double ms = entry.number(name);
  if (ms == 0 || is_usable_ms(std::fabs(ms))) return ms;
  throw DataError(entry.where(name) + " is " + python_repr(ms) + ", expected a time in ms");
}

void add_time(std::vector<OperatorTotal>& totals, const std::string& group, const std::string& name,
              const JsonFields& entry, const PhaseOfFile& phase) {
  auto total = std::find_if(totals.begin(), totals.end(), [&](const OperatorTotal& each) {
    return each.group == group && each.name == name;
  });
  if (total == totals.end()) {
    total = totals.insert(totals.end(), OperatorTotal{group, name, {}});
  }
  const double ms = operator_ms(entry, "total_duration_ms");
  total->ms[Metric::total] += ms;
  total->ms[phase.prefill ? Metric::prefill : Metric::decode] +=
      phase.prefill ? ms : ms * phase.share;
}

// The sums that pw-predict --summary writes in place of iterations.
std::vector<OperatorTotal> read_operator_sums(const JsonFields& file) {
  std::vector<OperatorTotal> totals;
  for (const Json& entry : file.array("operators")) {
    const JsonFields fields(entry,
                            file.where("operators") + "[" + std::to_string(totals.size()) + "]");
    OperatorTotal total{fields.text("group"), fields.text("name"), {}};
    total.ms[Metric::prefill] = operator_ms(fields, "prefill_ms");
    total.ms[Metric::decode] = operator_ms(fields, "decode_avg_ms");
    total.ms[Metric::total] = operator_ms(fields, "total_ms");
    totals.push_back(std::move(total));
  }
  return totals;
}

bool is_prefill(const JsonFields& iteration) {
  const std::string phase = iteration.text("phase");
  if (phase == "prefill") return true;
  if (phase == "decode") return false;
  throw DataError(iteration.where("phase") + " is " + shown(phase) +
                  ", expected prefill or decode");
}

std::vector<OperatorTotal> read_operators(const JsonFields& file) {
  std::vector<OperatorTotal> totals;
  if (file.has("operators")) return read_operator_sums(file);
  if (!file.has("iterations")) return totals;
  const Json& iterations = file.array("iterations");
  const auto decode_steps =
      std::count_if(iterations.begin(), iterations.end(), [](const Json& each) {
        const auto phase = each.find("phase");
        return phase != each.end() && *phase == "decode";
      });
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const JsonFields iteration(iterations[i],
                               file.where("iterations") + "[" + std::to_string(i) + "]");
    if (!iteration.has("operator_durations")) continue;
    const bool prefill = is_prefill(iteration);
    const PhaseOfFile phase{prefill, prefill ? 1.0 : 1.0 / static_cast<double>(decode_steps)};
    const Json& durations = iteration.object("operator_durations");
    const JsonFields groups(durations, iteration.where("operator_durations"));
    for (const auto& item : durations.items()) {
      const JsonFields group(groups.object(item.key()), groups.where(item.key()));
      if (group.has("total_duration_ms")) {
        add_time(totals, item.key(), item.key(), group, phase);
        continue;
      }
      for (const auto& entry : item.value().items()) {
        add_time(totals, item.key(), entry.key(),
                 JsonFields(group.object(entry.key()), group.where(entry.key())), phase);
      }
    }
  }
  return totals;
}

std::vector<PredictedCase> read_csv_predictions(const fs::path& path,
                                                const HardwareCatalog& catalog, const Warn& warn) {
  std::vector<PredictedCase> cases;
  for (const CsvCase& row : read_csv_values(path, CsvSide::predicted, warn)) {
    PredictedCase predicted;
    predicted.file = path;
    predicted.name = parse_case_name(row.name).value_or(CaseName{});
    predicted.name.label = row.name;
    predicted.name.gpu = gpu_name(predicted.name.gpu, catalog);
    for (const Metric metric : kMetrics) {
      const auto& values = row.values[metric];
      if (values.size() > 1) {
        throw DataError(path.string() + ": case '" + row.name + "' has " +
                        std::to_string(values.size()) + " values of " +
                        std::string(to_string(metric)) + ", expected one prediction");
      }
      if (!values.empty()) predicted.ms[metric] = values.front();
    }
    cases.push_back(std::move(predicted));
  }
  return cases;
}

}  // namespace

PredictedCase read_prediction_file(const fs::path& path, const HardwareCatalog& catalog,
                                   const Warn& warn) {
  const Json json = read_tolerant_json(path, warn);
  const JsonFields file(json, path.string());
  if (!file.has("summary")) {
    throw DataError(file.where("summary") +
                    " is missing: expected a prediction as pw-predict writes it");
  }
  PredictedCase predicted;
  predicted.file = path;
  predicted.name = read_name(file, path, catalog);
  predicted.ms = read_times(file, warn);
  predicted.gpu_seen = read_gpu_seen(file);
  predicted.operators = read_operators(file);
  predicted.bands = read_bands(file);
  return predicted;
}

std::vector<PredictedCase> read_predictions(const fs::path& path, const HardwareCatalog& catalog,
                                            const Warn& warn) {
  if (path.extension() == ".csv") return read_csv_predictions(path, catalog, warn);
  if (!fs::is_directory(path)) return {read_prediction_file(path, catalog, warn)};
  std::vector<PredictedCase> cases;
  for (const fs::path& file : json_files(path)) {
    cases.push_back(read_prediction_file(file, catalog, warn));
  }
  return cases;
}

}  // namespace pw
