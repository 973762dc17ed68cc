#include <algorithm>
#include <iostream>
#include <memory>

#include "app.h"
#include "engine_options.h"
#include "io/files.h"
#include "predict.h"
#include "predictor_options.h"
#include "pw/data_paths.h"
#include "pw/prediction.h"
#include "workload_options.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::optional<fs::path> workload_file;
  WorkloadArguments workload;
  PredictorArguments predictor;
  EngineArguments engine;
  std::optional<fs::path> output;
  bool json = false;
  bool summary = false;
};

Workload requested_workload(const Arguments& arguments) {
  return arguments.workload_file ? read_workload(*arguments.workload_file)
                                 : make_workload(arguments.workload);
}

void add_provenance(Prediction& prediction, const Arguments& arguments,
                    const std::vector<std::string>& families, const ModelSet& models,
                    const std::string& collectives) {
  auto& provenance = prediction.provenance;
  provenance.emplace_back("tool", std::string("pw-predict ") + PW_VERSION);
  if (arguments.workload_file) {
    provenance.emplace_back("workload", file_provenance(*arguments.workload_file));
  }
  if (arguments.predictor.method != PredictionMethod::learned) {
    const bool is_roofline = arguments.predictor.method == PredictionMethod::roofline;
    provenance.emplace_back("method", is_roofline ? "roofline" : "linear");
    return;
  }
  for (const auto& [name, model] : models) {
    provenance.emplace_back(name, model.file + " sha256:" + model.sha256);
  }
  for (const std::string& family : families) {
    if (has_analytic_form(family) && models.count(family) == 0) {
      provenance.emplace_back(family, "analytic form");
    }
  }
  if (!collectives.empty()) {
    provenance.emplace_back("collectives", collectives);
  }
}

// One GPU: a file. Several: a folder with one file per GPU.
void write_results(const Arguments& arguments, const std::vector<Prediction>& predictions) {
  const PredictionDetail detail =
      arguments.predictor.published_rules
          ? PredictionDetail::published
          : (arguments.summary ? PredictionDetail::summary : PredictionDetail::iterations);
  for (const Prediction& prediction : predictions) {
    const std::string json =
        arguments.output || arguments.json ? prediction_json(prediction, detail) : std::string();
    if (arguments.output) {
      std::error_code ignored;
      const bool folder = predictions.size() > 1 || fs::is_directory(*arguments.output, ignored) ||
                          !arguments.output->has_filename();
      const fs::path path =
          folder ? *arguments.output / prediction_file_name(prediction) : *arguments.output;
      write_file_atomic(path, json);
      std::cerr << "wrote " << path.string() << '\n';
    }
    std::cout << (arguments.json ? json + "\n" : prediction_text(prediction) + "\n");
  }
}

int predict(const Arguments& arguments) {
  const HardwareCatalog catalog = hardware_catalog(arguments.predictor);
  const std::vector<const HardwareSpec*> gpus = requested_gpus(catalog, arguments.predictor);
  if (arguments.json && gpus.size() > 1) {
    throw UsageError("--json prints one document, but --hardware names " +
                     std::to_string(gpus.size()) + " GPUs: give --output FOLDER instead");
  }
  if (arguments.output && gpus.size() > 1 && fs::is_regular_file(*arguments.output)) {
    throw UsageError("--output " + arguments.output->string() +
                     " is a file, expected a folder for the results of several GPUs");
  }
  const Workload workload = requested_workload(arguments);
  const std::vector<std::string> families = families_of(workload);
  const ModelSet models = load_models(arguments.predictor, families, false);
  LoadedCollectives collectives;
  if (communicates(workload)) {
    collectives = load_collectives(arguments.predictor);
  }
  const std::optional<EngineProfile> engine = engine_profile(arguments.engine, arguments.predictor);
  std::vector<OperatorPredictor> predictors;
  for (const HardwareSpec* gpu : gpus) {
    predictors.emplace_back(*gpu, models, predictor_options(arguments.predictor));
  }
  const OperatorTimer operators(std::move(predictors));
  std::vector<Prediction> predictions =
      predict_workload(workload, operators, collectives.catalog, engine);
  for (Prediction& prediction : predictions) {
    add_provenance(prediction, arguments, families, models, collectives.provenance);
  }
  write_results(arguments, predictions);
  return kDone;
}

}  // namespace

void add_predict_workload(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::Option* file = app.add_option("--workload", arguments->workload_file,
                                     "Workload file, from pw-workload or published")
                          ->option_text("FILE");
  cli::Option* hardware =
      app.add_option("--hardware", arguments->predictor.hardware,
                     "GPU by short or full name; several separated by commas, or all")
          ->delimiter(',')
          ->option_text("GPU");
  app.add_option("--output", arguments->output,
                 "Result as JSON: a file, or a folder for <workload>_<GPU>.json")
      ->option_text("PATH");
  cli::Option* summary = app.add_flag("--summary", arguments->summary,
                                      "JSON with sums per operator in place of every iteration");
  app.add_flag("--json", arguments->json, "Print the JSON instead of the table");
  const EngineOptionHandles engine = add_engine_options(app, arguments->engine);
  const WorkloadOptionHandles workload = add_workload_options(app, arguments->workload);
  for (cli::Option* option : app.get_options()) {
    if (option->get_group() == "Requests" || option->get_group() == "Engine") {
      option->excludes(file);  // a workload file has them already
    }
  }
  workload.model->excludes(file);
  app.add_option("--collectives", arguments->predictor.collectives,
                 "Collective models (collectives.json)")
      ->option_text("FILE")
      ->group("Models and data");
  add_predictor_options(app, arguments->predictor);
  for (cli::Option* option : {engine.engine, engine.without, summary}) {
    option->excludes("--published-rules");
  }
  app.parse_complete_callback([&app, &action, arguments, file, hardware, workload] {
    if (!app.get_subcommands().empty()) {
      refuse_main_options(app);
      return;
    }
    if (file->empty() && workload.model->empty()) {
      throw cli::RequiredError("--workload, or --model with a trace or request lengths,");
    }
    if (file->empty()) {
      workload.require_requests();
    }
    if (hardware->empty()) {
      throw cli::RequiredError("--hardware");
    }
    arguments->workload.options.published_rules = arguments->predictor.published_rules;
    action = [arguments] { return predict(*arguments); };
  });
}

}  // namespace pw
