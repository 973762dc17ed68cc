#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "model/dropout.h"
#include "model/mlp.h"
#include "pw/dataset.h"
#include "pw/trainer.h"

namespace pw {

// Some rows of a data set as the network sees them.
struct TrainingPart {
  std::vector<std::int64_t> rows;  // in the data set
  torch::Tensor inputs;            // [rows, features], log1p of the raw features
  torch::Tensor targets;           // [rows], overall_perf
};
TrainingPart make_part(const Dataset& data, std::vector<std::int64_t> rows);

// One fit of the published network.
class Training {
 public:
  // Initialises the weights from LibTorch's global generator.
  Training(const Dataset& data, TrainingPart training, TrainingPart validation,
           const MlpOptions& options);

  // Trains until the validation loss has not fallen for the options' patience; the network then
  // has the weights of the best epoch. Returns what to record: epochs and losses.
  std::vector<std::pair<std::string, std::string>> run(const ProgressCallback& progress);
  MlpImpl& network() { return *mlp_; }

 private:
  double train_epoch();
  double train_batch(const torch::Tensor& rows);
  double validation_loss();
  void set_learning_rate(double learning_rate);
  [[noreturn]] void throw_not_finite(const TrainingPart& part, const torch::Tensor& rows,
                                     const torch::Tensor& losses) const;

  const Dataset& data_;
  const MlpOptions& options_;
  TrainingPart training_;
  TrainingPart validation_;
  Mlp mlp_;
  torch::optim::AdamW optimizer_;
  FastDropout dropout_;
  std::mt19937 shuffler_;
  std::vector<std::int64_t> order_;
};

}  // namespace pw
