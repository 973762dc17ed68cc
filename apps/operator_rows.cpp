#include "operator_rows.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "dataset_columns.h"
#include "io/json_file.h"

namespace pw {
namespace {

constexpr char kHardware[] = "hardware";
constexpr const char* kPredictionColumns[] = {"predicted_overall_perf", "predicted_duration_us",
                                              "predicted_p10_us", "predicted_p90_us",
                                              "prediction_note"};

std::string note_of(const OperatorPredictor& predictor, const OperatorConfig& config,
                    const OperatorPrediction& prediction) {
  std::string text;
  const auto add = [&](const std::string& note) { text += (text.empty() ? "" : "; ") + note; };
  if (predictor.is_unseen_gpu(config)) add("hardware not in training data");
  if (const auto quantile = predictor.output_quantile(config)) add(describe_quantile(*quantile));
  if (prediction.violation) add("out of range: " + describe(*prediction.violation));
  return text;
}

// Whether `work` ends well; what makes it fail is told of the row in `bad`.
template <class Work>
bool works(const CsvTable& csv, std::size_t row, const std::string& reason, bool names_place,
           std::map<std::size_t, OperatorRows::Part::BadRow>& bad, const Work& work) {
  std::string message;
  try {
    work();
    return true;
  } catch (const DataError& error) {
    message = error.what();
  } catch (const UnusableRow& unusable) {
    bad[csv.line(row)] = {unusable.reason, unusable.example};
    return false;
  } catch (const std::overflow_error& error) {  // sizes of a problem, see pw/int_math.h
    message = error.what() + std::string(", expected smaller numbers");
    names_place = false;
  }
  const std::string place = csv.path().string() + ":" + std::to_string(csv.line(row)) + ": ";
  bad[csv.line(row)] = {reason, names_place ? message : place + message};
  return false;
}

}  // namespace

struct OperatorRows::Result {
  std::optional<OperatorConfig> config;  // none: the row is bad
  PipelineFeatures features;
  OperatorPrediction prediction;
  std::string note;
};

OperatorRows::OperatorRows(const CsvTable& header, const Settings& settings)
    : header_(header), settings_(settings) {
  header.require_columns(settings.family.problem_columns);
  if (settings.gpu == nullptr && header.find_column(kHardware) == CsvTable::npos) {
    throw DataError(header.path().string() +
                    " has no hardware column: add one, or give --hardware GPU for all rows");
  }
  for (const Feature& feature : *settings.family.features) {
    // Those that the input has are carried through.
    if (settings.features && header.find_column(feature.name) == CsvTable::npos) {
      features_.push_back(feature);
    }
  }
  for (const char* name : kPredictionColumns) {
    if (settings.predictions && header.find_column(name) != CsvTable::npos) {
      throw DataError(header.path().string() + " already has a column '" + name +
                      "', expected a file without predictions: drop the column");
    }
  }
}

std::string OperatorRows::header_line() const {
  std::string text;
  for (std::size_t i = 0; i < header_.header().size(); ++i) {
    text += (i == 0 ? "" : ",") + csv_cell(header_.header()[i]);
  }
  for (const Feature& feature : features_) text += "," + std::string(feature.name);
  for (const char* name : kPredictionColumns) {
    if (settings_.predictions) text += "," + std::string(name);
  }
  return text + "\n";
}

OperatorRows::Part OperatorRows::predict(const CsvTable& csv) const {
  Part part;
  for (const CsvTable::BadLine& bad : csv.bad_lines()) {
    part.bad[bad.line] = {"wrong number of fields",
                          csv.path().string() + ":" + std::to_string(bad.line) + ": " + bad.reason};
  }
  std::vector<Result> results(csv.rows());
  // By GPU, because each GPU has a predictor of its own.
  std::map<const HardwareSpec*, std::vector<std::size_t>> rows_of_gpu;
  HardwareColumn hardware(settings_.catalog, csv.find_column(kHardware));
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    const HardwareSpec* gpu = settings_.gpu;
    if (works(csv, row, "no valid problem", true, part.bad, [&] {
          if (gpu == nullptr) gpu = hardware.of(fields);
          results[row].config = settings_.family.read(fields);
        })) {
      rows_of_gpu[gpu].push_back(row);
    }
  }
  for (const auto& [gpu, rows] : rows_of_gpu) predict_on(*gpu, csv, rows, results, part);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (!results[row].config) continue;
    append_row(csv, row, results[row], part.text);
    ++part.rows;
  }
  return part;
}

void OperatorRows::predict_on(const HardwareSpec& gpu, const CsvTable& csv,
                              const std::vector<std::size_t>& rows, std::vector<Result>& results,
                              Part& part) const {
  const OperatorPredictor predictor(gpu, settings_.models, settings_.options);
  if (!features_.empty()) {
    for (const std::size_t row : rows) {
      if (!works(csv, row, "problem without features", false, part.bad,
                 [&] { results[row].features = predictor.features(*results[row].config); })) {
        results[row].config.reset();
      }
    }
  }
  if (!settings_.predictions) return;
  std::vector<std::size_t> good;
  std::vector<OperatorConfig> configs;
  for (const std::size_t row : rows) {
    if (!results[row].config) continue;
    good.push_back(row);
    configs.push_back(*results[row].config);
  }
  const auto set = [&](std::size_t row, OperatorPrediction&& prediction) {
    Result& result = results[row];
    result.note = note_of(predictor, *result.config, prediction);
    result.prediction = std::move(prediction);
  };
  try {
    std::vector<OperatorPrediction> predicted = predictor.predict(configs);
    for (std::size_t i = 0; i < good.size(); ++i) set(good[i], std::move(predicted[i]));
    return;
  } catch (const DataError&) {
  } catch (const std::overflow_error&) {
  }
  // At least one row is refused; one by one tells which.
  for (const std::size_t row : good) {
    if (!works(csv, row, "problem without a prediction", false, part.bad,
               [&] { set(row, std::move(predictor.predict({*results[row].config}).front())); })) {
      results[row].config.reset();
    }
  }
}

void OperatorRows::append_row(const CsvTable& csv, std::size_t row, const Result& result,
                              std::string& text) const {
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    if (i > 0) text += ',';
    text += csv_cell(csv.cell(row, i));
  }
  for (const Feature& feature : features_) {
    text += ',';
    text += python_repr(feature.of(result.features));
  }
  if (settings_.predictions) {
    const OperatorPrediction& prediction = result.prediction;
    const std::optional<double>& fraction = prediction.fraction_of_reference;
    std::optional<TimeBand> band;
    if (prediction.errors) band = time_band(*prediction.errors, prediction.duration_us);
    text += ',' + (fraction ? python_repr(*fraction) : std::string()) + ',' +
            python_repr(prediction.duration_us) + ',' +
            (band ? python_repr(band->p10_us) : std::string()) + ',' +
            (band ? python_repr(band->p90_us) : std::string()) + ',' + csv_cell(result.note);
  }
  text += '\n';
}

}  // namespace pw
