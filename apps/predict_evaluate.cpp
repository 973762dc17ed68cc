#include <algorithm>
#include <iostream>
#include <memory>

#include "app.h"
#include "foreign_options.h"
#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "predict.h"
#include "predictor_options.h"
#include "pw/model_loader.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  fs::path checkpoint;
  fs::path input;
  ForeignModule foreign;
  NetworkEngine runtime = NetworkEngine::automatic;
};

void append_row(const Json& row, const std::string& where, std::size_t width,
                std::vector<float>& features) {
  if (!row.is_array() || row.size() != width ||
      !std::all_of(row.begin(), row.end(), [](const Json& each) { return each.is_number(); })) {
    throw DataError(where + ": expected " + std::to_string(width) +
                    " numbers, the features in the model's order");
  }
  for (const Json& value : row) features.push_back(value.get<float>());
}

// A row or a list of rows, or an object with one member that is a list.
std::vector<float> read_json_features(const fs::path& path, std::size_t width) {
  const Json json = read_json(path);
  const Json* rows = &json;
  std::string where = path.string();
  if (json.is_object()) {
    for (const auto& member : json.items()) {
      if (!member.value().is_array()) continue;
      if (rows != &json) {
        throw DataError(path.string() + " has several lists, expected one: the features");
      }
      rows = &member.value();
      where += ": " + member.key();
    }
  }
  std::vector<float> features;
  if (!rows->is_array() || rows->empty() || !rows->front().is_array()) {
    append_row(*rows, where, width, features);
    return features;
  }
  for (std::size_t i = 0; i < rows->size(); ++i) {
    append_row((*rows)[i], where + "[" + std::to_string(i) + "]", width, features);
  }
  return features;
}

// The columns that have the names of the features, in any order.
std::vector<float> read_csv_features(const fs::path& path, const std::vector<std::string>& names) {
  const CsvTable csv = CsvTable::read(path);
  csv.require_no_bad_lines();
  csv.require_columns({names.begin(), names.end()});
  std::vector<float> features;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    for (const std::string& name : names)
      features.push_back(static_cast<float>(fields.number(name)));
  }
  return features;
}

int evaluate(const Arguments& arguments) {
  const LoadedModel loaded = load_model(arguments.checkpoint, arguments.runtime, arguments.foreign);
  const std::vector<std::string>& names = loaded.model->record().features;
  const std::vector<float> features = arguments.input.extension() == ".csv"
                                          ? read_csv_features(arguments.input, names)
                                          : read_json_features(arguments.input, names.size());
  for (const float output : loaded.model->evaluate(features)) {
    std::cout << float32_repr(output) << '\n';
  }
  return kDone;
}

}  // namespace

void add_predict_evaluate(cli::App& app, Action& action) {
  cli::App* command = app.add_subcommand(
      "evaluate", "Print what a model gives for features as they are, one output per row");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("file", arguments->checkpoint, "Checkpoint (.pt)")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("--input", arguments->input,
                   "CSV with the features as columns, or JSON: a list of them, or of such lists")
      ->required()
      ->option_text("FILE");
  add_foreign_options(*command, arguments->foreign);
  add_runtime_option(*command, arguments->runtime);
  command->parse_complete_callback(
      [&action, arguments] { action = [arguments] { return evaluate(*arguments); }; });
}

}  // namespace pw
