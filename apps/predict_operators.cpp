#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "app.h"
#include "dataset_rows.h"
#include "dropped_rows.h"
#include "io/csv_table.h"
#include "io/files.h"
#include "operator_rows.h"
#include "option_values.h"
#include "parallel.h"
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
  bool skip_bad_rows = false;
  PredictorArguments predictor;
};

// The GPU of all rows, if one is given.
const HardwareSpec* gpu_of_all(const HardwareCatalog& catalog, const Arguments& arguments) {
  const std::vector<std::string>& names = arguments.predictor.hardware;
  if (names.size() > 1) {
    throw UsageError("--hardware names " + std::to_string(names.size()) +
                     " GPUs, expected one; use a hardware column for several");
  }
  return names.empty() ? nullptr : &asked_gpu(catalog, names.front());
}

// Takes the lines as they come: a file that replaces the old one at the end, or standard output.
class Output {
 public:
  explicit Output(const std::optional<fs::path>& path) {
    if (path) file_.emplace(*path);
  }

  void write(std::string_view text) {
    if (file_) return file_->write(text);
    if (!(std::cout << text)) throw DataError("cannot write to the standard output");
  }
  void finish() {
    if (file_) file_->finish();
  }

 private:
  std::optional<FileWriter> file_;
};

// Rows in the order of the input.
class RowCollector {
 public:
  RowCollector(const OperatorRows& rows, const Arguments& arguments)
      : rows_(rows), arguments_(arguments), output_(arguments.output) {}

  void take(OperatorRows::Part&& part) {
    for (const auto& [line, bad] : part.bad) {
      if (!arguments_.skip_bad_rows) throw DataError(bad.message);
      add_dropped(dropped_, bad.reason, {1, {bad.message}});
    }
    if (part.rows == 0) return;
    if (written_ == 0) output_.write(rows_.header_line());
    output_.write(part.text);
    written_ += part.rows;
  }

  void finish() {
    const std::string input = arguments_.input.string();
    if (written_ == 0 && dropped_.empty()) {
      throw DataError(input + " has no data rows, expected at least one");
    }
    if (written_ == 0) throw DataError(no_usable_rows(input, arguments_.family, dropped_));
    output_.finish();
    if (arguments_.output) {
      std::cerr << "wrote " << written_ << " rows to " << arguments_.output->string() << '\n';
    }
    print_dropped(std::cerr, dropped_, written_);
  }

 private:
  const OperatorRows& rows_;
  const Arguments& arguments_;
  Output output_;
  std::size_t written_ = 0;
  std::map<std::string, DroppedRows> dropped_;
};

int predict(const Arguments& arguments) {
  constexpr std::size_t kRowsOfAPart = 1024;
  const OperatorFamily& family = operator_family(arguments.family);
  CsvReader reader(arguments.input);
  reader.header().require_columns(family.problem_columns);
  const ModelSet models = load_models(arguments.predictor, {arguments.family}, arguments.features);
  const bool predictions = has_analytic_form(family.name) || !models.empty() ||
                           arguments.predictor.method != PredictionMethod::learned;
  const HardwareCatalog catalog = hardware_catalog(arguments.predictor);
  const OperatorPredictorOptions options = predictor_options(arguments.predictor);
  const OperatorRows rows(reader.header(), {family, catalog, gpu_of_all(catalog, arguments), models,
                                            options, arguments.features, predictions});
  RowCollector collector(rows, arguments);
  in_order([&] { return reader.next(kRowsOfAPart); },
           [&](CsvReader::Lines&& lines) { return rows.predict(reader.rows(std::move(lines))); },
           [&](OperatorRows::Part&& part) { collector.take(std::move(part)); });
  collector.finish();
  if (!predictions) {
    std::cerr << "note: no checkpoint for operator '" << arguments.family
              << "', features alone were written\n";
  }
  return kDone;
}

}  // namespace

void add_predict_operators(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::App* operators = app.add_subcommand("operators",
                                           "Append features and predicted durations, with their "
                                           "p10 and p90, to a CSV of operator problems");
  operators
      ->add_option("--operator", arguments->family,
                   "gemm, gemm_fp8, attn, rmsnorm, siluandmul or moe")
      ->required()
      ->check(cli::Check(check_operator_name))
      ->option_text("NAME");
  operators->add_option("--input", arguments->input, "CSV with the operator's problem columns")
      ->required()
      ->option_text("FILE");
  operators->add_option("--output", arguments->output, "CSV to write; default: standard output")
      ->option_text("FILE");
  operators->add_flag("--features", arguments->features,
                      "Append the analytical features too; a checkpoint is then not needed");
  operators->add_flag("--skip-bad-rows", arguments->skip_bad_rows,
                      "Leave out rows that cannot be predicted, and list them");
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
