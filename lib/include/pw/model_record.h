#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pw/error_band.h"
#include "pw/model_input.h"
#include "pw/operators.h"

namespace pw {

// Range of one raw feature over the rows that a model was fitted on.
struct FeatureRange {
  double min = 0, max = 0, mean = 0, stddev = 0;  // population standard deviation
};

// A file that a model was fitted on.
struct DataFile {
  std::string name;    // file name without folders
  std::string sha256;  // empty = unknown, for models that were imported
  std::int64_t rows_used = 0;
  std::string source;              // licence and origin as the user stated it
  std::string duration_unit = "";  // "us", "ms", "s"; empty = unknown
};

// How well a model predicts overall_perf; relative errors are fractions of the measured value.
struct Metrics {
  std::int64_t rows = 0;
  double mae = 0, rmse = 0;
  std::optional<double> r2;  // absent when all measured values are equal
  double mean_relative_error = 0, median_relative_error = 0;
  double percentile_95_relative_error = 0, max_relative_error = 0;
  // Percentage of rows whose relative error is below 10, 20, 50 %.
  double accuracy_10_percent = 0, accuracy_20_percent = 0, accuracy_50_percent = 0;
  // Of the duration: errors relative to the measured one, and the mean of the signed ones. Absent
  // in records that were written before these were measured.
  std::optional<double> duration_mean_relative_error, duration_median_relative_error;
  std::optional<double> duration_percentile_95_relative_error, duration_bias;
  std::optional<double> duration_accuracy_10_percent;
};

// By data set and GPU: "validation", "test", "test: <GPU>".
using LabelledMetrics = std::vector<std::pair<std::string, Metrics>>;

// Which share of the rows has a performance of at most each quantile of a quantile model; 0.8 for
// the quantile 0.8 if it is what it claims to be.
struct Coverage {
  std::int64_t rows = 0;
  std::vector<double> shares;  // as ModelRecord::quantiles
};
using LabelledCoverage = std::vector<std::pair<std::string, Coverage>>;

// Everything that a checkpoint must say about itself; stored in the file and checked at load.
struct ModelRecord {
  static constexpr int kFormatVersion = 2;  // 2: operand_copies

  std::string operator_name;  // an OperatorFamily name
  ModelKind kind = ModelKind::efficiency;
  // "ragged" or "paged" for an attention model that was fitted on one layout alone, else empty.
  std::string attention_layout;
  std::vector<std::string> features;  // in model-input order; of feature_names(family, kind)
  AnalysisOptions analysis;
  std::vector<FeatureRange> feature_ranges;  // as features; empty = unknown
  // Sets of operands that all training rows used in turn (pw/operand_copies.h). Absent where they
  // differ, as in rows of pw-profile, and in GEMM records of before this was written: the network
  // is then asked about the copies of the problem itself.
  std::optional<double> operand_copies;
  std::vector<std::pair<std::string, std::int64_t>> hardware_rows;  // training rows per full name
  std::vector<DataFile> data;
  std::vector<std::pair<std::string, std::string>> training;  // option -> value, in fixed order
  LabelledMetrics metrics;
  // Quantiles of performance that a quantile model tells, rising, and the one that its output is;
  // empty for models of the typical duration.
  std::vector<double> quantiles;
  std::optional<double> output_quantile;
  LabelledCoverage coverage;
  // How far models of the typical duration are off on unseen rows of a GPU that they know, and on a
  // GPU that they do not; absent where no fit told it.
  std::optional<HeldOutErrors> known_gpu_errors, new_gpu_errors;
};

std::string record_json(const ModelRecord& record);
// `origin` names the file in messages. Throws DataError for anything but a complete record of this
// format version or an older one.
ModelRecord parse_record(const std::string& json, const std::string& origin);

// Where the features of a record stand in feature_names(family, kind), in model-input order.
// Throws DataError for a name that models of this family and kind do not have.
std::vector<std::size_t> feature_columns(const ModelRecord& record, const std::string& origin);

// A trained model of one operator family, ready to evaluate.
class OperatorModel {
 public:
  virtual ~OperatorModel() = default;
  virtual const ModelRecord& record() const = 0;
  // `features`: rows x record().features.size() raw (untransformed) float32 values, row-major.
  // Returns one output per row, as the network gives it: see ModelKind.
  virtual std::vector<float> evaluate(const std::vector<float>& features) const = 0;
  // One output per row and quantile of the record, row-major; the same as evaluate() for a model of
  // one quantile.
  virtual std::vector<float> evaluate_quantiles(const std::vector<float>& features) const {
    return evaluate(features);
  }
  // Networks of an ensemble whose outputs can be told apart, else 1; with the one after the other
  // as if each were the whole model: members() x rows outputs. Where they spread, the ensemble
  // knows little.
  virtual std::size_t members() const { return 1; }
  virtual std::vector<float> evaluate_members(const std::vector<float>& features) const {
    return evaluate(features);
  }
};

}  // namespace pw
