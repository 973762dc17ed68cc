#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "model/dropout.h"
#include "model/mlp.h"
#include "model/plateau.h"
#include "model/training_loop.h"
#include "model/training_record.h"
#include "pw/dataset.h"
#include "pw/trainer.h"

namespace pw {

// Some rows of a data set as the network sees them.
struct TrainingPart {
  std::vector<std::int64_t> rows;  // in the data set
  torch::Tensor inputs;            // [rows, features], log1p of the raw features
  torch::Tensor targets;           // [rows], overall_perf
  torch::Tensor weights;           // [rows], of mean 1; undefined when all rows weigh the same
};
TrainingPart make_part(const Dataset& data, std::vector<std::int64_t> rows);

// The rows' weights divided by their mean; undefined when the data has none.
torch::Tensor weights_of(const Dataset& data, const std::vector<std::int64_t>& rows);

// The parameters of a module after moving it to the device.
std::vector<torch::Tensor> parameters_on(torch::Device device, torch::nn::Module& module);

void set_learning_rate(torch::optim::Optimizer& optimizer, double learning_rate);

void check_options(const MlpOptions& options);
NamedValues options_of(const MlpOptions& options);

// One fit of the published network. Without validation rows neither the learning rate nor the end
// depends on losses, and the best epoch is that of the smallest training loss.
class Training : public EpochTraining {
 public:
  // Initialises the weights from LibTorch's global generator. `options` must outlive the training.
  Training(const Dataset& data, TrainingPart training, TrainingPart validation,
           const MlpOptions& options);

  // After the last epoch, or when the validation loss has not fallen for the options' patience.
  bool finished() const override;
  EpochReport next_epoch() override;
  void save(TrainingState& state) const override;
  void load(const TrainingState& state) override;

  // The network with the weights of the best epoch so far; ends the training.
  MlpImpl& best_network();
  // What to record: epochs and losses.
  std::vector<std::pair<std::string, std::string>> result() const;

 private:
  // Where the training stands between two epochs, with the network, the optimizer and generators.
  struct Progress {
    std::int64_t epochs = 0;
    std::int64_t best_epoch = 0;
    double best_training_loss = std::numeric_limits<double>::infinity();
    double best_validation_loss = std::numeric_limits<double>::infinity();
  };

  double train_epoch();
  double train_batch(const torch::Tensor& rows);
  double validation_loss();
  bool validates() const { return !validation_.rows.empty(); }
  [[noreturn]] void throw_not_finite(const TrainingPart& part, const torch::Tensor& rows,
                                     const torch::Tensor& losses) const;

  const Dataset& data_;
  const MlpOptions& options_;
  torch::Device device_;
  TrainingPart training_;
  TrainingPart validation_;
  Mlp mlp_;
  torch::optim::AdamW optimizer_;
  PlateauSchedule schedule_;
  FastDropout dropout_;
  std::mt19937 shuffler_;
  std::vector<std::int64_t> order_;
  Progress progress_;
  NamedTensors best_weights_;
};

}  // namespace pw
