#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>

#include "c_api/operator_struct.h"
#include "pw.h"
#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"
#include "pw/model_loader.h"
#include "pw/prediction.h"

namespace fs = std::filesystem;
using pw::require;

namespace {

std::string& last_error() {
  thread_local std::string error;
  return error;
}

// The one place where exceptions become a status and a text.
template <class Body>
pw_status guarded(const Body& body) noexcept {
  try {
    try {
      body();
      return PW_OK;
    } catch (const pw::WrongUsage& error) {
      last_error() = error.what();
      return PW_WRONG_USAGE;
    } catch (const pw::DataError& error) {
      last_error() = error.what();
      return PW_BAD_DATA;
    } catch (const fs::filesystem_error& error) {
      last_error() = error.what();
      return PW_BAD_DATA;
    } catch (const std::overflow_error& error) {
      last_error() = std::string(error.what()) + ", expected smaller numbers";
      return PW_BAD_DATA;
    } catch (const std::exception& error) {
      last_error() = std::string("internal error: ") + error.what();
      return PW_INTERNAL_ERROR;
    }
  } catch (...) {  // no memory for the text
    return PW_INTERNAL_ERROR;
  }
}

std::optional<fs::path> optional_path(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<fs::path>(text);
}

// A folder of the shipped data, in the folder that the caller gave or where it is found.
fs::path data_folder(const char* folder, const char* given) {
  if (given == nullptr) return pw::find_data_folder(folder, std::nullopt);
  return pw::find_data_folder(folder, fs::path(given) / folder);
}

pw::ModelSet all_models(const fs::path& folder, pw::NetworkEngine engine) {
  std::vector<std::string> families;
  for (const pw::OperatorFamily& family : pw::operator_families()) {
    families.emplace_back(family.name);
  }
  return pw::load_models({folder, {}}, families, engine);
}

pw::Trace trace_of(const pw_request* requests, std::size_t count) {
  pw::Trace trace;
  trace.stem = std::to_string(count) + "_requests";
  for (std::size_t i = 0; i < count; ++i) {
    trace.requests.push_back({requests[i].prompt_tokens, requests[i].output_tokens});
    if (requests[i].prompt_tokens < 1 || requests[i].output_tokens < 1) {
      throw pw::DataError("request " + std::to_string(i) + ": found " +
                          std::to_string(requests[i].prompt_tokens) + " prompt tokens and " +
                          std::to_string(requests[i].output_tokens) +
                          " output tokens, expected at least 1 of each");
    }
  }
  return trace;
}

}  // namespace

struct pw_predictor {
  pw::OperatorTimer operators;  // of one GPU
  std::optional<pw::EngineProfile> engine;
  fs::path collectives_file;
  // Read when the first workload communicates.
  mutable std::once_flag collectives_read;
  mutable pw::CollectiveCatalog collectives;

  const pw::OperatorPredictor& gpu() const { return operators.gpus().front(); }
};

struct pw_workload {
  const pw::Workload workload;
};

namespace {

pw::Prediction predict(const pw_predictor* predictor, const pw_workload* workload) {
  require(predictor, "predictor");
  require(workload, "workload");
  if (pw::communicates(workload->workload)) {
    std::call_once(predictor->collectives_read, [&] {
      predictor->collectives =
          pw::CollectiveCatalog::read(predictor->collectives_file, pw::WorkerRules::scaled);
    });
  }
  return std::move(pw::predict_workload(workload->workload, predictor->operators,
                                        predictor->collectives, predictor->engine)
                       .front());
}

// What made the prediction, as far as the library knows it.
void add_provenance(const pw_predictor& predictor, const pw_workload& workload,
                    pw::Prediction& prediction) {
  std::set<std::string> used;
  for (const pw::Step& step : workload.workload.steps) {
    pw::for_each_op(step,
                    [&](const pw::Op& op) { used.insert(predictor.gpu().model_name(op.problem)); });
  }
  prediction.provenance.emplace_back("tool", "libpw " PW_VERSION);
  for (const auto& [name, model] : predictor.gpu().models()) {
    if (used.count(name) != 0) {
      prediction.provenance.emplace_back(name, model.file + " sha256:" + model.sha256);
    }
  }
  if (pw::communicates(workload.workload)) {
    prediction.provenance.emplace_back("collectives",
                                       predictor.collectives_file.filename().string());
  }
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

pw_band band(const std::optional<pw::TimeBand>& expected) {
  return expected ? pw_band{expected->p10_us, expected->p90_us} : pw_band{kNaN, kNaN};
}

}  // namespace

const char* pw_version(void) { return PW_VERSION; }

const char* pw_last_error(void) { return last_error().c_str(); }

pw_status pw_predictor_create(const char* gpu, const pw_predictor_options* options,
                              pw_predictor** predictor) {
  return guarded([&] {
    require(gpu, "gpu");
    require(predictor, "predictor");
    const pw_predictor_options given = options == nullptr ? pw_predictor_options{} : *options;
    const pw::NetworkEngine networks =
        pw::parse_network_engine(given.network_engine == nullptr ? "auto" : given.network_engine);
    const std::string engine = given.serving_engine == nullptr ? "sglang" : given.serving_engine;
    std::optional<pw::EngineProfile> profile;
    if (engine != "none") {
      profile =
          pw::read_engine_profile(data_folder("config", given.data_folder) / "engines", engine);
    }
    const fs::path checkpoints =
        given.checkpoint_folder == nullptr
            ? data_folder("checkpoints", given.data_folder)
            : pw::find_data_folder("checkpoints", optional_path(given.checkpoint_folder));
    const auto catalog = pw::HardwareCatalog::read(data_folder("hardware", given.data_folder));
    *predictor = new pw_predictor{pw::OperatorTimer({pw::OperatorPredictor(
                                      catalog.get(gpu), all_models(checkpoints, networks))}),
                                  std::move(profile),
                                  checkpoints / "collectives.json",
                                  {},
                                  {}};
  });
}

void pw_predictor_destroy(pw_predictor* predictor) { delete predictor; }

pw_status pw_predict_operators(const pw_predictor* predictor, const pw_operator* operators,
                               size_t count, pw_operator_prediction* predictions) {
  return guarded([&] {
    require(predictor, "predictor");
    if (count == 0) return;
    require(operators, "operators");
    require(predictions, "predictions");
    std::vector<pw::OperatorConfig> configs;
    configs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) configs.push_back(pw::operator_config(operators[i], i));
    const auto results = predictor->gpu().predict(configs);
    for (std::size_t i = 0; i < count; ++i) {
      const pw::OperatorPrediction& found = results[i];
      std::optional<pw::TimeBand> expected;
      if (found.errors) expected = pw::time_band(*found.errors, found.duration_us);
      predictions[i] = {found.duration_us, found.fraction_of_reference.value_or(kNaN),
                        found.violation ? 1 : 0, band(expected)};
    }
  });
}

pw_status pw_workload_create(const char* model, const pw_request* requests, size_t count,
                             const pw_workload_options* options, pw_workload** workload) {
  return guarded([&] {
    require(model, "model");
    require(requests, "requests");
    require(workload, "workload");
    const pw_workload_options given = options == nullptr ? pw_workload_options{} : *options;
    pw::WorkloadOptions shape;
    if (given.tensor_parallel != 0) shape.tp_size = given.tensor_parallel;
    if (given.pipeline_parallel != 0) shape.pp_size = given.pipeline_parallel;
    const fs::path config = pw::find_model_config(model, data_folder("config", given.data_folder));
    *workload = new pw_workload{
        pw::generate_workload(pw::read_model_config(config), trace_of(requests, count), shape)};
  });
}

pw_status pw_workload_read(const char* path, pw_workload** workload) {
  return guarded([&] {
    require(path, "path");
    require(workload, "workload");
    *workload = new pw_workload{pw::read_workload(path)};
  });
}

void pw_workload_destroy(pw_workload* workload) { delete workload; }

pw_status pw_predict_workload(const pw_predictor* predictor, const pw_workload* workload,
                              pw_workload_prediction* prediction) {
  return guarded([&] {
    require(prediction, "prediction");
    const pw::Prediction found = predict(predictor, workload);
    const pw::PredictionBands bands = found.bands.value_or(pw::PredictionBands{});
    *prediction = {found.summary.prefill_us,      found.summary.decode_average_us,
                   found.summary.decode_total_us, found.summary.total_us,
                   found.summary.decode_steps,    found.requests,
                   found.prompt_tokens,           found.output_tokens,
                   found.memory.weight_bytes,     found.memory.kv_cache_bytes,
                   found.fits() ? 1 : 0,          band(bands.prefill),
                   band(bands.decode_step),       band(bands.total)};
  });
}

pw_status pw_predict_workload_json(const pw_predictor* predictor, const pw_workload* workload,
                                   char** json) {
  return guarded([&] {
    require(json, "json");
    pw::Prediction prediction = predict(predictor, workload);
    add_provenance(*predictor, *workload, prediction);
    const std::string text = pw::prediction_json(prediction, pw::PredictionDetail::iterations);
    auto copy = std::make_unique<char[]>(text.size() + 1);
    std::memcpy(copy.get(), text.c_str(), text.size() + 1);
    *json = copy.release();
  });
}

void pw_text_destroy(char* text) { delete[] text; }
