#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pw/hardware_spec.h"
#include "pw/linear_model.h"
#include "pw/model_record.h"
#include "pw/operators.h"
#include "pw/tile_table.h"

namespace pw {

// A checkpoint in use.
struct LoadedModel {
  std::shared_ptr<const OperatorModel> model;
  std::string file;    // file name without folders
  std::string sha256;  // of the file
};
// By name: an operator family ("gemm"), or the family and a layout for attention models that were
// fitted on one layout alone ("attn_ragged", "attn_paged"); the latter win.
using ModelSet = std::map<std::string, LoadedModel>;
// The names under which a model for the config may be found, first the most special.
std::vector<std::string> model_names(const OperatorConfig& config);

// A feature outside the range that the model was fitted on, by more than kRangeMargin of the
// range's width in the network's input: logarithms for efficiency models, ratio features as they
// are.
inline constexpr double kRangeMargin = 0.01;
struct RangeViolation {
  std::string feature;
  double value = 0;     // a large logarithm in double, other values as the network sees them
  double bound = 0;     // the training minimum or maximum that it passes
  double distance = 0;  // beyond the bound, as a fraction of the training range's width
};
// "N 128256, training range up to 65536, 17 % of its width beyond": logarithms as what they are of.
std::string describe(const RangeViolation& violation);

// "at quantile 0.8 of performance": what a model of this output_quantile gives.
std::string describe_quantile(double quantile);

// Whether a family is predicted without a checkpoint: rmsnorm and siluandmul.
bool has_analytic_form(std::string_view family);

struct OperatorPrediction {
  double duration_us = 0;
  // Time at the model's reference over the predicted time: overall_perf for efficiency models,
  // fraction of the roofline for log_ratio models; absent for the analytic form.
  std::optional<double> fraction_of_reference;
  std::optional<RangeViolation> violation;  // the feature furthest out of range
  // Held-out errors of the model that speak for this GPU; absent without a model and where its
  // record has none.
  std::optional<ErrorBand> errors;
};

struct OperatorErrors {
  std::string model;  // in ModelSet
  std::optional<ErrorBand> band;
};

// Where durations come from.
enum class PredictionMethod {
  learned,   // checkpoints and analytic forms
  roofline,  // the larger of compute and DRAM time at nominal rates: a lower bound, a baseline
  linear,    // LinearModel, a baseline
};

struct OperatorPredictorOptions {
  PredictionMethod method = PredictionMethod::learned;
  LinearModels linear_models;                   // for PredictionMethod::linear
  std::shared_ptr<const TileTable> gemm_tiles;  // null: tiles are selected analytically
  TileLookup tile_lookup = TileLookup::nearest_log;
};

// Durations of single operators on one GPU. A family with a checkpoint is predicted by it; rmsnorm
// and siluandmul have an analytic form otherwise; anything else without a checkpoint is a
// DataError.
class OperatorPredictor {
 public:
  OperatorPredictor(HardwareSpec hardware, ModelSet models, OperatorPredictorOptions options = {});

  const HardwareSpec& hardware() const { return hardware_; }
  const ModelSet& models() const { return models_; }

  // One prediction per config, each finite and positive. Configs of one model are evaluated in
  // one forward pass. Throws DataError when a model's output is 0 or not finite.
  std::vector<OperatorPrediction> predict(const std::vector<OperatorConfig>& configs) const;
  // The same on several GPUs, by GPU and config: one forward pass per model for all of them. The
  // predictors have the same models and options.
  static std::vector<std::vector<OperatorPrediction>> predict_on_all(
      const std::vector<OperatorPredictor>& gpus, const std::vector<OperatorConfig>& configs);

  // The pipeline features under the options of the config's model, or default ones without it.
  PipelineFeatures features(const OperatorConfig& config) const;

  // Under which name of ModelSet the config's model was found; empty without one.
  std::string model_name(const OperatorConfig& config) const;
  // Held-out errors of the config's model and its name; neither without a model.
  OperatorErrors errors(const OperatorConfig& config) const;
  // What kernels the config's model was fitted on, where they are a library's that pw-profile ran
  // and engines mostly replace.
  std::optional<std::string> library_kernels(const OperatorConfig& config) const;
  // Configs of one place have the same model. Below kAnswers.
  static constexpr std::size_t kAnswers = std::variant_size_v<OperatorConfig> + 1;
  static std::size_t answer_place(const OperatorConfig& config);
  // Whether the config's model was trained without this GPU. False when the record does not tell.
  bool is_unseen_gpu(const OperatorConfig& config) const;
  // The quantile of performance that the config's model gives, if it is not a model of the typical
  // duration.
  std::optional<double> output_quantile(const OperatorConfig& config) const;
  // The full name of the GPU whose rows of the GEMM table answer, if it is another one.
  std::optional<std::string> tile_lender() const;

 private:
  // What answers for a kind of operator.
  struct Answer {
    std::string name;                      // in ModelSet; empty without a model
    const OperatorModel* model = nullptr;  // null without one
    std::vector<std::size_t> columns;      // of feature_names, in model-input order
    std::optional<ErrorBand> errors;       // on this GPU
  };
  void find_answers();
  const Answer& answer_for(const OperatorConfig& config) const;
  double baseline_us(const OperatorConfig& config) const;
  double analytic_us(const OperatorConfig& config) const;  // throws without an analytic form
  ModelInput input(const OperatorConfig& config, const ModelRecord& record) const;
  // With the table's tile; empty where the config stays as it is.
  std::optional<OperatorConfig> with_tile(const OperatorConfig& config) const;

  // Several predictors that lie one after the other, and their predictions by GPU and config.
  struct Gpus {
    const OperatorPredictor* first = nullptr;
    std::size_t count = 0;
    const OperatorPredictor* begin() const { return first; }
    const OperatorPredictor* end() const { return first + count; }
  };
  using Results = std::vector<std::vector<OperatorPrediction>>;
  static Results predict_on(Gpus gpus, const std::vector<OperatorConfig>& configs);
  static void predict_with(const Answer& answer, Gpus gpus,
                           const std::vector<OperatorConfig>& configs,
                           const std::vector<std::size_t>& members, Results& results);

  HardwareSpec hardware_;
  ModelSet models_;
  OperatorPredictorOptions options_;
  // By place in OperatorConfig; attention with a paged layout has the last place.
  std::vector<Answer> answers_;
};

}  // namespace pw
