#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "app.h"
#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "predict.h"
#include "predictor_options.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string family;
  fs::path input;
  std::optional<fs::path> output;
  bool features = false;
  PredictorArguments predictor;
};

// One input row and what is appended to it.
struct ResultRow {
  PipelineFeatures features;
  OperatorPrediction prediction;
  std::string note;
};

// The columns that are appended; feature columns that the input already has are carried through.
struct Columns {
  std::vector<Feature> features;
  bool predictions = false;
};

constexpr const char* kPredictionColumns[] = {"predicted_overall_perf", "predicted_duration_us",
                                              "predicted_p10_us", "predicted_p90_us",
                                              "prediction_note"};

Columns columns_for(const CsvTable& csv, const OperatorFamily& family, bool features,
                    bool predictions) {
  Columns columns{{}, predictions};
  for (const Feature& feature : *family.features) {
    if (features && csv.find_column(feature.name) == CsvTable::npos) {
      columns.features.push_back(feature);
    }
  }
  for (const char* name : kPredictionColumns) {
    if (predictions && csv.find_column(name) != CsvTable::npos) {
      throw DataError(csv.path().string() + " already has a column '" + name +
                      "', expected a file without predictions: drop the column");
    }
  }
  return columns;
}

// Rows by GPU, because each GPU has a predictor of its own.
std::map<const HardwareSpec*, std::vector<std::size_t>> rows_by_gpu(
    const CsvTable& csv, const HardwareCatalog& catalog, const PredictorArguments& arguments) {
  std::map<const HardwareSpec*, std::vector<std::size_t>> rows;
  if (arguments.hardware.size() > 1) {
    throw DataError("--hardware names " + std::to_string(arguments.hardware.size()) +
                    " GPUs, expected one; use a hardware column for several");
  }
  if (!arguments.hardware.empty()) {
    auto& all = rows[&catalog.get(arguments.hardware.front())];
    for (std::size_t row = 0; row < csv.rows(); ++row) {
      all.push_back(row);
    }
    return rows;
  }
  if (csv.find_column("hardware") == CsvTable::npos) {
    throw DataError(csv.path().string() +
                    " has no hardware column: add one, or give --hardware GPU for all rows");
  }
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    const std::string name = fields.text("hardware");
    try {
      rows[&catalog.get(name)].push_back(row);
    } catch (const DataError& error) {
      throw DataError(fields.where("hardware") + ": " + error.what());
    }
  }
  return rows;
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    text += (text.empty() ? "" : "; ") + note;
  }
  return text;
}

// All rows at once; if one of them is refused, row by row to tell which.
std::vector<OperatorPrediction> predict_all(const OperatorPredictor& predictor,
                                            const std::vector<OperatorConfig>& configs,
                                            const CsvTable& csv,
                                            const std::vector<std::size_t>& rows) {
  try {
    return predictor.predict(configs);
  } catch (const DataError&) {
    for (std::size_t i = 0; i < configs.size(); ++i) {
      try {
        predictor.predict({configs[i]});
      } catch (const DataError& error) {
        throw DataError(csv.path().string() + ":" + std::to_string(csv.line(rows[i])) + ": " +
                        error.what());
      }
    }
    throw;
  }
}

std::vector<ResultRow> predict_rows(const CsvTable& csv, const OperatorFamily& family,
                                    const Arguments& arguments, bool predictions,
                                    const ModelSet& models) {
  const HardwareCatalog catalog = hardware_catalog(arguments.predictor);
  const OperatorPredictorOptions options = predictor_options(arguments.predictor);
  std::vector<ResultRow> results(csv.rows());
  for (const auto& [gpu, rows] : rows_by_gpu(csv, catalog, arguments.predictor)) {
    const OperatorPredictor predictor(*gpu, models, options);
    std::vector<OperatorConfig> configs;
    for (const std::size_t row : rows) {
      const CsvRow fields(csv, row);
      configs.push_back(family.read(fields));
      try {
        results[row].features = predictor.features(configs.back());
      } catch (const DataError& error) {
        throw DataError(csv.path().string() + ":" + std::to_string(csv.line(row)) + ": " +
                        error.what());
      }
    }
    if (!predictions) {
      continue;
    }
    const std::vector<OperatorPrediction> predicted = predict_all(predictor, configs, csv, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<std::string> notes;
      if (predictor.is_unseen_gpu(configs[i])) {
        notes.push_back("hardware not in training data");
      }
      if (const auto quantile = predictor.output_quantile(configs[i])) {
        notes.push_back(describe_quantile(*quantile));
      }
      if (predicted[i].violation) {
        notes.push_back("out of range: " + describe(*predicted[i].violation));
      }
      results[rows[i]].prediction = predicted[i];
      results[rows[i]].note = joined(notes);
    }
  }
  return results;
}

std::string csv_text(const CsvTable& csv, const Columns& columns,
                     const std::vector<ResultRow>& results) {
  std::ostringstream text;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    text << (i == 0 ? "" : ",") << csv_cell(csv.header()[i]);
  }
  for (const Feature& feature : columns.features) {
    text << ',' << feature.name;
  }
  if (columns.predictions) {
    for (const char* name : kPredictionColumns) {
      text << ',' << name;
    }
  }
  text << '\n';
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const ResultRow& result = results[row];
    for (std::size_t i = 0; i < csv.header().size(); ++i) {
      text << (i == 0 ? "" : ",") << csv_cell(csv.cell(row, i));
    }
    for (const Feature& feature : columns.features) {
      text << ',' << python_repr(feature.of(result.features));
    }
    if (columns.predictions) {
      const OperatorPrediction& prediction = result.prediction;
      const std::optional<double>& fraction = prediction.fraction_of_reference;
      std::optional<TimeBand> band;
      if (prediction.errors) band = time_band(*prediction.errors, prediction.duration_us);
      text << ',' << (fraction ? python_repr(*fraction) : "") << ','
           << python_repr(prediction.duration_us) << ',' << (band ? python_repr(band->p10_us) : "")
           << ',' << (band ? python_repr(band->p90_us) : "") << ',' << csv_cell(result.note);
    }
    text << '\n';
  }
  return text.str();
}

int predict(const Arguments& arguments) {
  const OperatorFamily& family = operator_family(arguments.family);
  const CsvTable csv = CsvTable::read(arguments.input);
  csv.require_no_bad_lines();
  csv.require_columns(family.problem_columns);
  if (csv.rows() == 0) {
    throw DataError(arguments.input.string() + " has no data rows, expected at least one");
  }
  const ModelSet models = load_models(arguments.predictor, {arguments.family}, arguments.features);
  const bool predictions = has_analytic_form(family.name) || !models.empty() ||
                           arguments.predictor.method != PredictionMethod::learned;
  const Columns columns = columns_for(csv, family, arguments.features, predictions);
  const std::vector<ResultRow> results = predict_rows(csv, family, arguments, predictions, models);
  const std::string text = csv_text(csv, columns, results);
  if (arguments.output) {
    write_file_atomic(*arguments.output, text);
    std::cerr << "wrote " << csv.rows() << " rows to " << arguments.output->string() << '\n';
  } else {
    std::cout << text;
  }
  if (!predictions) {
    std::cerr << "note: no checkpoint for operator '" << arguments.family
              << "', features alone were written\n";
  }
  return kDone;
}

}  // namespace

void add_predict_operators(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* operators = app.add_subcommand("operators",
                                           "Append features and predicted durations, with their "
                                           "p10 and p90, to a CSV of operator problems");
  operators
      ->add_option("--operator", arguments->family,
                   "gemm, gemm_fp8, attn, rmsnorm, siluandmul or moe")
      ->required()
      ->option_text("NAME");
  operators->add_option("--input", arguments->input, "CSV with the operator's problem columns")
      ->required()
      ->option_text("FILE");
  operators->add_option("--output", arguments->output, "CSV to write; default: standard output")
      ->option_text("FILE");
  operators->add_flag("--features", arguments->features,
                      "Append the analytical features too; a checkpoint is then not needed");
  operators
      ->add_option("--hardware", arguments->predictor.hardware,
                   "GPU of all rows; default: the hardware column of each row")
      ->option_text("GPU");
  add_predictor_options(*operators, arguments->predictor);
  operators->parse_complete_callback([&action, arguments] {
    for (std::string& text : arguments->predictor.checkpoints) {
      if (text.find('=') == std::string::npos) text = arguments->family + "=" + text;
    }
    action = [arguments] { return predict(*arguments); };
  });
}

}  // namespace pw
