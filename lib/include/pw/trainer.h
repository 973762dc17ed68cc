#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pw/dataset.h"
#include "pw/model_record.h"

namespace pw {

// Defaults are the published ones (docs/training.md gives each source).
struct MlpOptions {
  std::int64_t epochs = 2500;
  std::int64_t batch_size = 1024;
  double learning_rate = 1e-3;
  double weight_decay = 1e-4;  // decoupled, on every parameter
  double clip_norm = 1.0;      // global L2 norm of the gradient
  double dropout = 0.1;
  double scheduler_factor = 0.6;
  std::int64_t scheduler_patience = 45;
  double min_learning_rate = 1e-6;
  std::int64_t early_stopping_patience = 85;
  double validation_fraction = 0.2;
  std::int64_t seed = 42;
  int threads = 1;
  // Validation rows by the published random permutation of rows instead of whole (GPU, problem)
  // groups.
  bool published_split = false;
};

// Defaults are those of docs/training.md "Recommended": an ensemble of plain networks on
// standardised ratio features, absolute error of ln(duration / bound).
struct RatioOptions {
  std::int64_t epochs = 20;
  std::int64_t batch_size = 1024;
  double learning_rate = 3e-3;  // the maximum of one cycle
  double weight_decay = 1e-4;   // decoupled
  double clip_norm = 1.0;
  double input_noise = 0.05;  // standard deviation added to standardised inputs while training
  std::int64_t members = 3;
  std::vector<std::int64_t> hidden_widths = {128, 128, 64};
  double warm_up = 0.1;  // share of the steps
  double validation_fraction = 0.2;
  std::int64_t seed = 42;
  int threads = 1;
  // After the validation rows have told the error, train once more on all rows and keep that.
  bool refit = true;
};

struct EpochReport {
  std::int64_t epoch = 0;  // 0-based
  std::int64_t epochs = 0;
  double train_loss = 0;
  std::optional<double> validation_loss;  // absent where none is computed in each epoch
  double learning_rate = 0, seconds = 0;
  bool best = false;
};
using ProgressCallback = std::function<void(const EpochReport&)>;

// Fits the published network (256-128-64, ReLU, BatchNorm, dropout, sigmoid) and writes the best
// epoch's checkpoint to `output`. `test` may be empty. Same data, options and LibTorch: same bytes.
// Returns the record that was stored.
ModelRecord train_mlp(const Dataset& train, const Dataset* test, const MlpOptions& options,
                      const std::filesystem::path& output, const ProgressCallback& progress);

// Fits a log_ratio model to rows that were read as such and writes it to `output`.
ModelRecord train_log_ratio(const Dataset& train, const Dataset* test, const RatioOptions& options,
                            const std::filesystem::path& output, const ProgressCallback& progress);

// How the model predicts all rows of `data`, and those of each GPU. Throws DataError when the data
// is of another operator. Needs no LibTorch.
LabelledMetrics evaluate_model(const OperatorModel& model, const Dataset& data,
                               const std::string& label);

}  // namespace pw
