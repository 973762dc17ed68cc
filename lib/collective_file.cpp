#include <algorithm>
#include <functional>
#include <tuple>

#include "choice.h"
#include "io/json_file.h"
#include "pw/collective.h"

namespace pw {
namespace {

constexpr std::int64_t kFormatVersion = 2;

// The elements of an array of objects.
template <class Read>
void for_each_object(const JsonFields& fields, std::string_view name, Read read) {
  const Json& array = fields.array(name);
  for (std::size_t i = 0; i < array.size(); ++i) {
    read(JsonFields(array[i], fields.where(name) + "[" + std::to_string(i) + "]"));
  }
}

std::vector<double> positive_numbers(const JsonFields& fields, std::string_view name) {
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

template <class Number>
void check_ascending(const std::vector<Number>& values, const JsonFields& fields,
                     std::string_view name) {
  if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end()) {
    throw DataError(fields.where(name) + ": the numbers must ascend");
  }
}

CollectiveCurve read_curve(const JsonFields& fields) {
  CollectiveCurve curve;
  curve.bytes = positive_numbers(fields, "bytes");
  curve.duration_us = positive_numbers(fields, "duration_us");
  curve.rows = integer_at_least(fields, "rows", 1);
  if (curve.bytes.empty() || curve.bytes.size() != curve.duration_us.size()) {
    throw DataError(fields.where("bytes") + ": " + std::to_string(curve.bytes.size()) +
                    " sizes for " + std::to_string(curve.duration_us.size()) +
                    " durations; expected the same number, at least 1");
  }
  check_ascending(curve.bytes, fields, "bytes");
  if (!std::is_sorted(curve.duration_us.begin(), curve.duration_us.end())) {
    throw DataError(fields.where("duration_us") + ": durations must not descend");
  }
  return curve;
}

std::map<std::int64_t, CollectiveCurve> read_curves(const JsonFields& model) {
  std::map<std::int64_t, CollectiveCurve> curves;
  for_each_object(model, "curves", [&](const JsonFields& fields) {
    const std::int64_t workers = integer_at_least(fields, "workers", 2);
    if (!curves.emplace(workers, read_curve(fields)).second) {
      throw DataError(fields.where("workers") + ": a second curve for " + std::to_string(workers) +
                      " workers");
    }
  });
  if (curves.empty()) {
    throw DataError(model.where("curves") + ": found none, expected at least one curve");
  }
  return curves;
}

ForestSteps read_steps(const JsonFields& fields) {
  ForestSteps steps;
  steps.bytes_up_to = fields.integers("bytes_up_to");
  steps.duration_us = positive_numbers(fields, "duration_us");
  if (steps.duration_us.size() != steps.bytes_up_to.size() + 1) {
    throw DataError(fields.where("duration_us") + ": " + std::to_string(steps.duration_us.size()) +
                    " durations for " + std::to_string(steps.bytes_up_to.size()) +
                    " ends of steps; expected one more");
  }
  check_ascending(steps.bytes_up_to, fields, "bytes_up_to");
  return steps;
}

CollectiveForest read_forest(const JsonFields& model) {
  CollectiveForest forest;
  forest.workers = model.integers("workers");
  check_ascending(forest.workers, model, "workers");
  if (forest.workers.empty() || forest.workers.front() < 2) {
    throw DataError(model.where("workers") + ": expected at least one worker count, all above 1");
  }
  forest.largest_bytes = integer_at_least(model, "largest_bytes", 1);
  forest.rows = integer_at_least(model, "rows", 1);
  for_each_object(model, "steps", [&](const JsonFields& fields) {
    const std::int64_t from = integer_at_least(fields, "from_workers", 1);
    const bool first = forest.steps_from_workers.empty();
    if (first ? from != 1 : from <= forest.steps_from_workers.rbegin()->first) {
      throw DataError(fields.where("from_workers") + ": found " + std::to_string(from) +
                      "; expected 1, then ascending numbers");
    }
    forest.steps_from_workers.emplace(from, read_steps(fields));
  });
  if (forest.steps_from_workers.empty()) {
    throw DataError(model.where("steps") + ": found none, expected steps from 1 worker on");
  }
  return forest;
}

std::vector<NamedErrors> read_errors(const JsonFields& model) {
  std::vector<NamedErrors> errors;
  for_each_object(model, "errors", [&](const JsonFields& fields) {
    NamedErrors named{fields.text("of"),
                      {integer_at_least(fields, "rows", 1), fields.number("mean_percent"),
                       fields.number("median_percent")}};
    if (fields.has("p10")) {
      named.band = ErrorBand{named.summary.rows, fields.number("p10"), fields.number("p50"),
                             fields.number("p90"), std::nullopt};
      if (fields.has("coverage")) {
        named.band->coverage = fields.number("coverage");
      }
    }
    errors.push_back(std::move(named));
  });
  return errors;
}

CollectiveModel read_model(const JsonFields& fields) {
  CollectiveModel model;
  model.hardware = fields.text("hardware");
  model.collective = fields.text("collective");
  check_collective(model.collective);
  model.statistic =
      choice(fields, "statistic", std::array{CallStatistic::median, CallStatistic::mean});
  const auto optional_text = [&](const char* name) {
    return fields.has(name) ? fields.text(name) : std::string();
  };
  model.architecture = optional_text("architecture");
  model.interconnect = optional_text("interconnect");
  model.source = fields.text("source");
  model.sha256 = fields.text("sha256");
  model.errors = read_errors(fields);
  if (choice(fields, "kind", std::array{CollectiveKind::monotone, CollectiveKind::forest}) ==
      CollectiveKind::forest) {
    model.forest = read_forest(fields);
  } else {
    model.curves = read_curves(fields);
  }
  return model;
}

Json errors_json(const std::vector<NamedErrors>& errors) {
  Json list = Json::array();
  for (const NamedErrors& each : errors) {
    list.push_back({{"of", each.name},
                    {"rows", each.summary.rows},
                    {"mean_percent", round_decimals(each.summary.mean_percent, 3)},
                    {"median_percent", round_decimals(each.summary.median_percent, 3)}});
    if (each.band) {
      list.back()["p10"] = round_decimals(each.band->p10, 5);
      list.back()["p50"] = round_decimals(each.band->p50, 5);
      list.back()["p90"] = round_decimals(each.band->p90, 5);
      if (each.band->coverage) {
        list.back()["coverage"] = round_decimals(*each.band->coverage, 4);
      }
    }
  }
  return list;
}

// The model's parts, one line each.
std::vector<Json> parts_json(const CollectiveModel& model) {
  std::vector<Json> parts;
  for (const auto& [workers, curve] : model.curves) {
    parts.push_back({{"workers", workers},
                     {"rows", curve.rows},
                     {"bytes", curve.bytes},
                     {"duration_us", curve.duration_us}});
  }
  if (model.forest) {
    for (const auto& [workers, steps] : model.forest->steps_from_workers) {
      parts.push_back({{"from_workers", workers},
                       {"bytes_up_to", steps.bytes_up_to},
                       {"duration_us", steps.duration_us}});
    }
  }
  return parts;
}

std::string model_json(const CollectiveModel& model) {
  Json head{{"hardware", model.hardware},      {"collective", model.collective},
            {"kind", to_string(model.kind())}, {"statistic", to_string(model.statistic)},
            {"source", model.source},          {"sha256", model.sha256}};
  if (!model.architecture.empty()) head["architecture"] = model.architecture;
  if (!model.interconnect.empty()) head["interconnect"] = model.interconnect;
  head["errors"] = errors_json(model.errors);
  if (model.forest) {
    head["workers"] = model.forest->workers;
    head["largest_bytes"] = model.forest->largest_bytes;
    head["rows"] = model.forest->rows;
  }
  std::string text = head.dump();
  text.pop_back();
  text += model.forest ? ",\"steps\":[" : ",\"curves\":[";
  std::string_view separator = "\n";
  for (const Json& part : parts_json(model)) {
    text += separator;
    text += part.dump();
    separator = ",\n";
  }
  return text + "]}";
}

}  // namespace

CollectiveCatalog CollectiveCatalog::read(const std::filesystem::path& path, WorkerRules rules) {
  const Json json = read_json(path);
  const JsonFields root(json, path.string());
  if (root.integer("format_version") != kFormatVersion) {
    throw DataError(root.where("format_version") + ": found " +
                    std::to_string(root.integer("format_version")) + "; this program reads " +
                    std::to_string(kFormatVersion) + ": refit with pw-train collective");
  }
  std::vector<CollectiveModel> models;
  for_each_object(root, "models", [&](const JsonFields& fields) {
    models.push_back(read_model(fields));
    const CollectiveModel& last = models.back();
    for (std::size_t i = 0; i + 1 < models.size(); ++i) {
      if (models[i].hardware == last.hardware && models[i].collective == last.collective) {
        throw DataError(fields.where("collective") + ": a second model of " + last.collective +
                        " on " + last.hardware);
      }
    }
  });
  return CollectiveCatalog(std::move(models), rules);
}

std::string collectives_json(const std::vector<CollectiveModel>& models) {
  std::vector<const CollectiveModel*> sorted;
  for (const CollectiveModel& model : models) {
    sorted.push_back(&model);
  }
  std::sort(sorted.begin(), sorted.end(), [](const CollectiveModel* a, const CollectiveModel* b) {
    return std::tie(a->hardware, a->collective) < std::tie(b->hardware, b->collective);
  });
  std::string text = "{\"format_version\":" + std::to_string(kFormatVersion) + ",\"models\":[";
  std::string_view separator = "\n";
  for (const CollectiveModel* model : sorted) {
    text += separator;
    text += model_json(*model);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace pw
