#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/dataset.h"
#include "pw/model_record.h"

namespace pw {

enum class Device { cpu, cuda };
std::string_view to_string(Device device);
Device parse_device(std::string_view text);

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
  Device device = Device::cpu;
  // Validation rows by the published random permutation of rows instead of whole (GPU, problem)
  // groups.
  bool published_split = false;
  // Set: the output is this quantile of overall_perf (quantile_trainer.h).
  std::optional<double> quantile = std::nullopt;
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
  Device device = Device::cpu;
  // After the validation rows have told the error, train once more on all rows and keep that.
  bool refit = true;
  // Further fits that tell the errors of the record's bands: without each of so many parts of the
  // groups of Dataset::hold_out_group, if the rows have them, and without each GPU. They have one
  // network each, to save time; an ensemble errs somewhat less.
  std::int64_t hold_out_folds = 5;
  bool leave_one_gpu_out = false;
};

struct EpochReport {
  std::int64_t epoch = 0;   // 0-based, over all fits of a run
  std::int64_t epochs = 0;  // at most
  double train_loss = 0;
  std::optional<double> validation_loss;  // absent where none is computed in each epoch
  double learning_rate = 0, seconds = 0;
  bool best = false;
};
using ProgressCallback = std::function<void(const EpochReport&)>;

// What steers a run from outside and leaves no trace in its result.
struct RunControl {
  std::function<bool()> stop;  // asked after each epoch; true ends the run there
  // A state that was saved by a run with the same options and data: the run continues there and
  // ends with the same bytes as one that was never interrupted (LibTorch on one thread).
  std::optional<std::filesystem::path> resume;
  std::optional<std::filesystem::path> save_state;  // written now and then, and at a stop
  std::int64_t save_every = 10;                     // epochs
};

// The network of a run, for its report.
struct NetworkSummary {
  std::vector<std::int64_t> hidden_widths;
  std::int64_t members = 1;
  double dropout = 0;
  std::int64_t parameters = 0;  // that are trained, of all members
};

// What a run gives beside the checkpoint.
struct TrainingRun {
  ModelRecord record;  // as stored
  NetworkSummary network;
  std::vector<EpochReport> curve;
  std::vector<std::int64_t> validation_rows;  // in the training data
  // overall_perf of the rows: by a fit that has not seen them, and of all rows of the test data.
  std::vector<float> validation_predictions, test_predictions;
  bool stopped = false;  // before its end, by RunControl::stop
  bool saved = true;     // a checkpoint was written
};

// Fits the published network (256-128-64, ReLU, BatchNorm, dropout, sigmoid) and writes the best
// epoch's checkpoint to `output`, also of a run that was stopped. `test` may be empty. Same data,
// options and LibTorch: same bytes.
TrainingRun run_mlp_training(const Dataset& train, const Dataset* test, const MlpOptions& options,
                             const std::filesystem::path& output, const ProgressCallback& progress,
                             const RunControl& control);

// Fits a log_ratio model to rows that were read as such and writes it to `output`. A run that was
// stopped writes the fit without the validation rows if that was complete, else nothing: the
// learning rate of one cycle leaves an unfinished network far from its final accuracy.
TrainingRun run_log_ratio_training(const Dataset& train, const Dataset* test,
                                   const RatioOptions& options, const std::filesystem::path& output,
                                   const ProgressCallback& progress, const RunControl& control);

// The same from start to end, for the record alone.
ModelRecord train_mlp(const Dataset& train, const Dataset* test, const MlpOptions& options,
                      const std::filesystem::path& output, const ProgressCallback& progress);
ModelRecord train_log_ratio(const Dataset& train, const Dataset* test, const RatioOptions& options,
                            const std::filesystem::path& output, const ProgressCallback& progress);

// How the model predicts all rows of `data`, and those of each GPU. Throws DataError when the data
// is of another operator. Needs no LibTorch.
LabelledMetrics evaluate_model(const OperatorModel& model, const Dataset& data,
                               const std::string& label);

}  // namespace pw
