#include "pw/model_record.h"

#include <algorithm>

#include "io/json_file.h"
#include "metrics_json.h"

namespace pw {
namespace {

constexpr const char* kCopies = "operand_copies";

// The JSON member of each number of Metrics that is always there.
struct MetricField {
  const char* name;
  double Metrics::*value;
};
constexpr MetricField kMetricFields[] = {
    {"mae", &Metrics::mae},
    {"rmse", &Metrics::rmse},
    {"mean_relative_error", &Metrics::mean_relative_error},
    {"median_relative_error", &Metrics::median_relative_error},
    {"percentile_95_relative_error", &Metrics::percentile_95_relative_error},
    {"max_relative_error", &Metrics::max_relative_error},
    {"accuracy_10_percent", &Metrics::accuracy_10_percent},
    {"accuracy_20_percent", &Metrics::accuracy_20_percent},
    {"accuracy_50_percent", &Metrics::accuracy_50_percent},
};

struct OptionalMetricField {
  const char* name;
  std::optional<double> Metrics::*value;
};
constexpr OptionalMetricField kOptionalMetricFields[] = {
    {"r2", &Metrics::r2},
    {"duration_mean_relative_error", &Metrics::duration_mean_relative_error},
    {"duration_median_relative_error", &Metrics::duration_median_relative_error},
    {"duration_percentile_95_relative_error", &Metrics::duration_percentile_95_relative_error},
    {"duration_bias", &Metrics::duration_bias},
    {"duration_accuracy_10_percent", &Metrics::duration_accuracy_10_percent},
};

Json metrics_json(const Metrics& metrics) {
  Json json = {{"rows", metrics.rows}};
  for (const MetricField& field : kMetricFields) {
    json[field.name] = metrics.*field.value;
  }
  for (const OptionalMetricField& field : kOptionalMetricFields) {
    if (const std::optional<double>& value = metrics.*field.value) {
      json[field.name] = *value;
    }
  }
  return json;
}

Metrics parse_metrics(const JsonFields& json) {
  Metrics metrics;
  metrics.rows = integer_at_least(json, "rows", 1);
  for (const MetricField& field : kMetricFields) {
    metrics.*field.value = json.number(field.name);
  }
  for (const OptionalMetricField& field : kOptionalMetricFields) {
    if (json.has(field.name)) {
      metrics.*field.value = json.number(field.name);
    }
  }
  return metrics;
}

Json ranges_json(const ModelRecord& record) {
  Json json = Json::object();
  for (std::size_t i = 0; i < record.feature_ranges.size(); ++i) {
    const FeatureRange& range = record.feature_ranges[i];
    json[record.features[i]] = {
        {"min", range.min}, {"max", range.max}, {"mean", range.mean}, {"std", range.stddev}};
  }
  return json;
}

std::vector<FeatureRange> parse_ranges(const JsonFields& record,
                                       const std::vector<std::string>& features,
                                       const std::string& origin) {
  const std::string where = origin + ": feature_ranges";
  const JsonFields ranges(record.object("feature_ranges"), where);
  std::vector<FeatureRange> parsed;
  if (record.object("feature_ranges").empty()) {
    return parsed;
  }
  for (const std::string& feature : features) {
    const JsonFields range(ranges.object(feature), where + "." + feature);
    parsed.push_back(
        {range.number("min"), range.number("max"), range.number("mean"), range.number("std")});
  }
  return parsed;
}

Json file_json(const DataFile& file) {
  Json json = {{"name", file.name}};
  if (!file.sha256.empty()) {
    json["sha256"] = file.sha256;
  }
  json["rows_used"] = file.rows_used;
  if (!file.source.empty()) {
    json["source"] = file.source;
  }
  if (!file.duration_unit.empty()) {
    json["duration_unit"] = file.duration_unit;
  }
  return json;
}

std::string text_or_empty(const JsonFields& fields, const char* name) {
  return fields.has(name) ? fields.text(name) : "";
}

std::vector<DataFile> parse_data(const JsonFields& record, const std::string& origin) {
  std::vector<DataFile> files;
  for (const Json& entry : record.array("data")) {
    const JsonFields file(entry, origin + ": data[" + std::to_string(files.size()) + "]");
    files.push_back({file.text("name"), text_or_empty(file, "sha256"),
                     integer_at_least(file, "rows_used", 0), text_or_empty(file, "source"),
                     text_or_empty(file, "duration_unit")});
  }
  return files;
}

std::vector<std::string> parse_features(const JsonFields& record) {
  std::vector<std::string> features;
  for (const Json& name : record.array("features")) {
    if (!name.is_string()) {
      throw DataError(record.where("features") + ": found " + name.dump() +
                      ", expected the names of features");
    }
    features.push_back(name);
  }
  return features;
}

AnalysisOptions parse_analysis(const JsonFields& record, const std::string& origin) {
  const JsonFields analysis(record.object("analysis"), origin + ": analysis");
  try {
    return {parse_fa2_schedule(analysis.text("fa2_schedule")),
            parse_gemm_tile_policy(analysis.text("gemm_tile"))};
  } catch (const DataError& error) {
    throw DataError(origin + ": analysis: " + error.what());
  }
}

ModelKind parse_kind(const JsonFields& record) {
  try {
    return parse_model_kind(record.text("kind"));
  } catch (const DataError& error) {
    throw DataError(record.where("kind") + ": " + error.what());
  }
}

std::vector<double> parse_numbers(const JsonFields& fields, const char* name) {
  std::vector<double> numbers;
  for (const Json& value : fields.array(name)) {
    if (!value.is_number()) {
      throw DataError(fields.where(name) + ": found " + value.dump() + ", expected numbers");
    }
    numbers.push_back(value);
  }
  return numbers;
}

void parse_quantiles(const JsonFields& fields, const std::string& origin, ModelRecord& record) {
  if (!fields.has("output_quantile")) {
    return;
  }
  record.quantiles = parse_numbers(fields, "quantiles");
  record.output_quantile = fields.number("output_quantile");
  if (std::count(record.quantiles.begin(), record.quantiles.end(), *record.output_quantile) != 1) {
    throw DataError(fields.where("output_quantile") + ": found " +
                    python_repr(*record.output_quantile) + ", expected one of the quantiles");
  }
  for (const auto& [label, coverage] : fields.object("coverage").items()) {
    const JsonFields part(coverage, origin + ": coverage[\"" + label + "\"]");
    Coverage parsed{integer_at_least(part, "rows", 1), parse_numbers(part, "shares")};
    if (parsed.shares.size() != record.quantiles.size()) {
      throw DataError(part.where("shares") + ": found " + std::to_string(parsed.shares.size()) +
                      " numbers, expected one for each of the " +
                      std::to_string(record.quantiles.size()) + " quantiles");
    }
    record.coverage.emplace_back(label, std::move(parsed));
  }
}

// The JSON member of each kind of held-out errors.
struct HeldOutField {
  const char* name;
  std::optional<HeldOutErrors> ModelRecord::*errors;
};
constexpr HeldOutField kHeldOutFields[] = {
    {"known_gpu_errors", &ModelRecord::known_gpu_errors},
    {"new_gpu_errors", &ModelRecord::new_gpu_errors},
};

ErrorBand parse_band(const JsonFields& fields) {
  ErrorBand band{integer_at_least(fields, "rows", 1), fields.number("p10"), fields.number("p50"),
                 fields.number("p90"), std::nullopt};
  if (band.p10 > band.p50 || band.p50 > band.p90) {
    throw DataError(fields.where("p50") + ": found p10 " + python_repr(band.p10) + ", p50 " +
                    python_repr(band.p50) + ", p90 " + python_repr(band.p90) +
                    ", expected numbers that rise");
  }
  if (fields.has("coverage")) {
    band.coverage = fields.number("coverage");
  }
  return band;
}

void parse_held_out_errors(const JsonFields& fields, const std::string& origin,
                           ModelRecord& record) {
  for (const HeldOutField& field : kHeldOutFields) {
    if (!fields.has(field.name)) {
      continue;
    }
    const std::string where = origin + ": " + field.name;
    const JsonFields errors(fields.object(field.name), where);
    HeldOutErrors parsed{
        errors.text("held_out"), parse_band(JsonFields(errors.object("all"), where + ".all")), {}};
    for (const auto& [gpu, band] : errors.object("gpus").items()) {
      parsed.of_gpu.emplace_back(gpu,
                                 parse_band(JsonFields(band, where + ".gpus[\"" + gpu + "\"]")));
    }
    record.*field.errors = std::move(parsed);
  }
}

// null where the rows differ. Records of before this was written do not have it: features of fp8
// GEMM and attention then had one set of operands, those of GEMM what an option said.
std::optional<double> parse_copies(const Json& json, const JsonFields& fields,
                                   const ModelRecord& record) {
  if (!json.contains(kCopies)) {
    const bool had_one = record.operator_name == Fp8GemmConfig::kName ||
                         record.operator_name == AttentionConfig::kName;
    return record.kind == ModelKind::log_ratio && had_one ? std::optional(1.0) : std::nullopt;
  }
  if (json[kCopies].is_null()) return std::nullopt;
  const double copies = fields.number(kCopies);
  if (copies < 1) {
    throw DataError(fields.where(kCopies) + ": found " + python_repr(copies) +
                    ", expected at least 1");
  }
  return copies;
}

const OperatorFamily& family_of(const ModelRecord& record, const std::string& origin) {
  try {
    return operator_family(record.operator_name);
  } catch (const DataError& error) {
    throw DataError(origin + ": " + error.what());
  }
}

void check_version(const JsonFields& record) {
  const std::int64_t version = integer_at_least(record, "format_version", 1);
  if (version > ModelRecord::kFormatVersion) {
    throw DataError(record.where("format_version") + ": found " + std::to_string(version) +
                    ", this program knows versions up to " +
                    std::to_string(ModelRecord::kFormatVersion) +
                    "; use the newer program that wrote the file");
  }
}

}  // namespace

Json metrics_json(const LabelledMetrics& metrics) {
  Json json = Json::object();
  for (const auto& [label, values] : metrics) {
    json[label] = metrics_json(values);
  }
  return json;
}

Json coverage_json(const LabelledCoverage& coverage) {
  Json json = Json::object();
  for (const auto& [label, values] : coverage) {
    json[label] = {{"rows", values.rows}, {"shares", values.shares}};
  }
  return json;
}

Json held_out_errors_json(const HeldOutErrors& errors) {
  const auto band_json = [](const ErrorBand& band) {
    Json json = {{"rows", band.rows}, {"p10", band.p10}, {"p50", band.p50}, {"p90", band.p90}};
    if (band.coverage) {
      json["coverage"] = *band.coverage;
    }
    return json;
  };
  Json json = {{"held_out", errors.held_out}, {"all", band_json(errors.all)}};
  json["gpus"] = Json::object();
  for (const auto& [gpu, band] : errors.of_gpu) {
    json["gpus"][gpu] = band_json(band);
  }
  return json;
}

std::string record_json(const ModelRecord& record) {
  Json json = {{"format_version", ModelRecord::kFormatVersion},
               {"operator", record.operator_name},
               {"kind", to_string(record.kind)},
               {"features", record.features},
               {"analysis",
                {{"fa2_schedule", to_string(record.analysis.fa2_schedule)},
                 {"gemm_tile", to_string(record.analysis.gemm_tile)}}},
               {"feature_ranges", ranges_json(record)},
               {"hardware_rows", Json::object()},
               {"data", Json::array()},
               {"training", Json::object()},
               {"metrics", metrics_json(record.metrics)}};
  if (!record.attention_layout.empty()) {
    json["attention_layout"] = record.attention_layout;
  }
  if (record.kind == ModelKind::log_ratio) {
    json[kCopies] = record.operand_copies ? Json(*record.operand_copies) : Json(nullptr);
  }
  for (const auto& [name, rows] : record.hardware_rows) {
    json["hardware_rows"][name] = rows;
  }
  for (const DataFile& file : record.data) {
    json["data"].push_back(file_json(file));
  }
  for (const auto& [option, value] : record.training) {
    json["training"][option] = value;
  }
  if (record.output_quantile) {
    json["quantiles"] = record.quantiles;
    json["output_quantile"] = *record.output_quantile;
    json["coverage"] = coverage_json(record.coverage);
  }
  for (const HeldOutField& field : kHeldOutFields) {
    if (const std::optional<HeldOutErrors>& errors = record.*field.errors) {
      json[field.name] = held_out_errors_json(*errors);
    }
  }
  return to_json_text(json);
}

ModelRecord parse_record(const std::string& json_text, const std::string& origin) {
  const Json json = parse_json(json_text, origin);
  const JsonFields fields(json, origin);
  check_version(fields);
  ModelRecord record;
  record.operator_name = fields.text("operator");
  record.kind = parse_kind(fields);
  record.attention_layout = text_or_empty(fields, "attention_layout");
  record.features = parse_features(fields);
  record.analysis = parse_analysis(fields, origin);
  record.feature_ranges = parse_ranges(fields, record.features, origin);
  record.operand_copies = parse_copies(json, fields, record);
  const JsonFields rows(fields.object("hardware_rows"), origin + ": hardware_rows");
  for (const auto& [name, count] : fields.object("hardware_rows").items()) {
    record.hardware_rows.emplace_back(name, rows.integer(name));
  }
  record.data = parse_data(fields, origin);
  const JsonFields training(fields.object("training"), origin + ": training");
  for (const auto& [option, value] : fields.object("training").items()) {
    record.training.emplace_back(option, training.text(option));
  }
  for (const auto& [label, metrics] : fields.object("metrics").items()) {
    record.metrics.emplace_back(
        label, parse_metrics(JsonFields(metrics, origin + ": metrics[\"" + label + "\"]")));
  }
  parse_quantiles(fields, origin, record);
  parse_held_out_errors(fields, origin, record);
  return record;
}

std::vector<std::size_t> feature_columns(const ModelRecord& record, const std::string& origin) {
  const std::vector<std::string> known = feature_names(family_of(record, origin), record.kind);
  if (record.features.empty()) {
    throw DataError(origin + ": the model of " + record.operator_name + " lists no feature");
  }
  std::vector<std::size_t> columns;
  for (const std::string& name : record.features) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw DataError(origin + ": the model uses the feature '" + name + "', which " +
                      std::string(to_string(record.kind)) + " models of operator " +
                      record.operator_name + " do not have");
    }
    columns.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  return columns;
}

}  // namespace pw
