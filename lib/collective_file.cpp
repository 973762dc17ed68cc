#include <algorithm>
#include <functional>
#include <tuple>

#include "io/csv_table.h"
#include "io/json_file.h"
#include "pw/collective.h"

namespace pw {
namespace {

constexpr std::int64_t kFormatVersion = 1;

std::vector<double> knots(const JsonFields& fields, std::string_view name) {
  std::vector<double> values;
  for (const Json& value : fields.array(name)) {
    if (!value.is_number() || !(value.get<double>() > 0)) {
      throw DataError(fields.where(name) + ": found " + value.dump() +
                      "; expected numbers above 0");
    }
    values.push_back(value.get<double>());
  }
  return values;
}

CollectiveCurve read_curve(const JsonFields& fields) {
  CollectiveCurve curve;
  curve.bytes = knots(fields, "bytes");
  curve.duration_us = knots(fields, "duration_us");
  curve.rows = integer_at_least(fields, "rows", 1);
  if (curve.bytes.empty() || curve.bytes.size() != curve.duration_us.size()) {
    throw DataError(fields.where("bytes") + ": " + std::to_string(curve.bytes.size()) +
                    " sizes for " + std::to_string(curve.duration_us.size()) +
                    " durations; expected the same number, at least 1");
  }
  if (std::adjacent_find(curve.bytes.begin(), curve.bytes.end(), std::greater_equal<>()) !=
      curve.bytes.end()) {
    throw DataError(fields.where("bytes") + ": sizes must ascend");
  }
  if (!std::is_sorted(curve.duration_us.begin(), curve.duration_us.end())) {
    throw DataError(fields.where("duration_us") + ": durations must not descend");
  }
  return curve;
}

// The model of the record's GPU and collective, added when it is the first of them.
CollectiveModel& model_of(const JsonFields& fields, std::vector<CollectiveModel>& models) {
  CollectiveModel model{fields.text("hardware"),
                        fields.text("collective"),
                        {},
                        fields.text("source"),
                        fields.text("sha256")};
  check_collective(model.collective);
  for (CollectiveModel& known : models) {
    if (known.hardware == model.hardware && known.collective == model.collective) {
      return known;
    }
  }
  return models.emplace_back(std::move(model));
}

CollectiveSample read_sample(const CsvRow& row, const std::string& duration_column) {
  CollectiveSample sample;
  sample.bytes = integer_at_least(row, "size", 1);
  sample.workers = integer_at_least(row, "num_workers", 2);
  const double duration_ms = row.number(duration_column);
  if (!(duration_ms > 0)) {
    throw DataError(row.where(duration_column) + ": found " + row.text(duration_column) +
                    "; expected a duration above 0 ms");
  }
  sample.duration_us = duration_ms * 1e3;
  return sample;
}

}  // namespace

std::vector<CollectiveSample> read_collective_samples(const std::filesystem::path& path,
                                                      std::string_view collective) {
  check_collective(collective);
  const CsvTable table = CsvTable::read(path);
  table.require_no_bad_lines();
  const std::string duration_column = "time_stats." + std::string(collective) + ".median";
  table.require_columns({"size", "num_workers", duration_column});
  if (table.rows() == 0) {
    throw DataError(path.string() + ": no row under the header; expected one per measured call");
  }
  std::vector<CollectiveSample> samples;
  samples.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    samples.push_back(read_sample(CsvRow(table, row), duration_column));
  }
  return samples;
}

CollectiveCatalog CollectiveCatalog::read(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const JsonFields root(json, path.string());
  if (root.integer("format_version") != kFormatVersion) {
    throw DataError(root.where("format_version") + ": found " +
                    std::to_string(root.integer("format_version")) + "; this program reads " +
                    std::to_string(kFormatVersion) + ": refit with pw-train collective");
  }
  std::vector<CollectiveModel> models;
  const Json& records = root.array("curves");
  for (std::size_t i = 0; i < records.size(); ++i) {
    const JsonFields fields(records[i], path.string() + ": curves[" + std::to_string(i) + "]");
    const std::int64_t workers = integer_at_least(fields, "workers", 2);
    CollectiveModel& model = model_of(fields, models);
    if (!model.curves.emplace(workers, read_curve(fields)).second) {
      throw DataError(fields.where("workers") + ": a second curve of " + model.collective + " on " +
                      std::to_string(workers) + " x " + model.hardware);
    }
  }
  return CollectiveCatalog(std::move(models));
}

std::string collectives_json(const std::vector<CollectiveModel>& models) {
  std::vector<const CollectiveModel*> sorted;
  for (const CollectiveModel& model : models) {
    sorted.push_back(&model);
  }
  std::sort(sorted.begin(), sorted.end(), [](const CollectiveModel* a, const CollectiveModel* b) {
    return std::tie(a->hardware, a->collective) < std::tie(b->hardware, b->collective);
  });
  std::string text = "{\"format_version\":" + std::to_string(kFormatVersion) + ",\"curves\":[";
  std::string_view separator = "\n";
  for (const CollectiveModel* model : sorted) {
    for (const auto& [workers, curve] : model->curves) {
      const Json record{{"hardware", model->hardware}, {"collective", model->collective},
                        {"workers", workers},          {"rows", curve.rows},
                        {"source", model->source},     {"sha256", model->sha256},
                        {"bytes", curve.bytes},        {"duration_us", curve.duration_us}};
      text += separator;
      text += record.dump();
      separator = ",\n";
    }
  }
  return text + "\n]}\n";
}

}  // namespace pw
