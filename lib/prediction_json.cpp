#include <algorithm>

#include "fact_json.h"
#include "io/json_file.h"
#include "pw/prediction.h"

namespace pw {
namespace {

// Milliseconds as the published files print them.
double file_ms(double us) { return round_decimals(us / 1000, 6); }

Json time_json(const OperatorTime& time) {
  return {{"single_duration_ms", file_ms(time.single_us)},
          {"count", time.count},
          {"total_duration_ms", file_ms(time.total_us())}};
}

bool has_named_members(OperatorGroup group) {
  return group == OperatorGroup::gemm || group == OperatorGroup::communication ||
         group == OperatorGroup::engine;
}

Json iteration_json(const IterationTime& iteration) {
  Json durations = Json::object();
  for (const OperatorTime& time : iteration.operators) {
    const std::string group(to_string(time.group));
    if (has_named_members(time.group)) {
      durations[group][time.name] = time_json(time);
    } else {
      durations[group] = time_json(time);
    }
  }
  return {{"iteration", iteration.number},
          {"phase", std::string(to_string(iteration.phase))},
          {"operator_durations", durations},
          {"total_duration_ms", file_ms(iteration.total_us)}};
}

Json operators_json(const Prediction& p) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, p.summary.decode_steps));
  Json operators = Json::array();
  for (const OperatorSum& sum : operator_sums(p)) {
    operators.push_back({{"group", std::string(to_string(sum.group))},
                         {"name", sum.name},
                         {"prefill_ms", file_ms(sum.prefill_us)},
                         {"decode_avg_ms", file_ms(sum.decode_us / steps)},
                         {"total_ms", file_ms(sum.total_us())}});
  }
  return operators;
}

Json case_json(const Prediction& p) {
  return {{"model", p.config},
          {"trace", p.trace},
          {"engine", p.engine},
          {"engine_version", p.engine_version},
          {"hardware", p.hardware.stem},
          {"requests", p.requests},
          {"prompt_tokens", p.prompt_tokens},
          {"output_tokens", p.output_tokens}};
}

Json memory_json(const Prediction& p) {
  Json memory{{"weight_bytes", p.memory.weight_bytes}, {"kv_cache_bytes", p.memory.kv_cache_bytes}};
  if (p.hardware.global_memory_bytes > 0) {
    memory["capacity_bytes"] = p.hardware.global_memory_bytes;
    memory["fits"] = p.fits();
  }
  return memory;
}

Json band_json(const std::optional<TimeBand>& band) {
  return band ? Json{{"p10", file_ms(band->p10_us)}, {"p90", file_ms(band->p90_us)}}
              : Json(nullptr);
}

Json bands_json(const PredictionBands& bands) {
  Json json{{"prefill_ms", band_json(bands.prefill)},
            {"decode_avg_ms", band_json(bands.decode_step)},
            {"total_ms", band_json(bands.total)},
            {"sources", Json::array()}};
  for (const BandPart& part : bands.parts) {
    const auto total = [](const PhaseTimes& times) { return times.prefill + times.decode; };
    const auto percent = [&](const PhaseTimes& times) {
      return round_decimals(100 * (total(times) / total(part.predicted_us) - 1), 2);
    };
    json["sources"].push_back({{"name", part.source},
                               {"total_ms", file_ms(total(part.predicted_us))},
                               {"p10_percent", percent(part.p10_us)},
                               {"p50_percent", percent(part.p50_us)},
                               {"p90_percent", percent(part.p90_us)}});
  }
  json["without_errors"] = bands.without_errors;
  json["without_errors_percent"] = round_decimals(100 * bands.total_share_without_errors, 2);
  return json;
}

}  // namespace

std::string prediction_json(const Prediction& p, PredictionDetail detail) {
  Json json{{"model", p.model},
            {"hardware", p.hardware.name},
            {"tp_size", p.tp_size},
            {"pp_size", p.pp_size}};
  if (detail == PredictionDetail::summary) {
    json["operators"] = operators_json(p);
  } else {
    json["iterations"] = Json::array();
    for (const IterationTime& iteration : p.iterations) {
      json["iterations"].push_back(iteration_json(iteration));
    }
  }
  json["summary"] = {{"prefill_duration_ms", file_ms(p.summary.prefill_us)},
                     {"decode_avg_duration_ms", file_ms(p.summary.decode_average_us)},
                     {"decode_total_duration_ms", file_ms(p.summary.decode_total_us)},
                     {"total_duration_ms", file_ms(p.summary.total_us)}};
  if (detail != PredictionDetail::published) {
    if (p.bands) {
      json["bands"] = bands_json(*p.bands);
    }
    json["case"] = case_json(p);
    json["memory"] = memory_json(p);
    json["facts"] = facts_json(p.facts);
    json["provenance"] = Json::object();
    for (const auto& [key, value] : p.provenance) {
      json["provenance"][key] = value;
    }
    json["schema_version"] = kSchemaVersion;
  }
  return to_json_text(json);
}

std::string prediction_file_name(const Prediction& p) {
  std::string name = p.workload + "_" + p.hardware.stem + ".json";
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace pw
