#include "model/training.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "io/json_file.h"
#include "model/plateau.h"
#include "model/split.h"

namespace pw {
namespace {

constexpr double kTargetOffset = 1e-9;  // the published loss: abs((y - p) / (y + 1e-9))
constexpr std::int64_t kRowsPerEvaluation = 1 << 15;

torch::Tensor losses_of(const torch::Tensor& predicted, const torch::Tensor& targets) {
  return ((targets - predicted) / (targets + kTargetOffset)).abs();
}

// Bounds of the batches: the last one is short, and joined to the one before when it would be a
// single row, which BatchNorm cannot normalise.
std::vector<std::int64_t> batch_bounds(std::int64_t rows, std::int64_t batch_size) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t begin = 0; begin < rows; begin += batch_size) {
    bounds.push_back(begin);
  }
  if (rows - bounds.back() == 1 && bounds.size() > 1) {
    bounds.pop_back();
  }
  bounds.push_back(rows);
  return bounds;
}

struct EpochLosses {
  double training = 0;
  double validation = std::numeric_limits<double>::infinity();
};

std::vector<torch::Tensor> copy_weights(const MlpImpl& mlp) {
  std::vector<torch::Tensor> copies;
  for (const auto& [name, tensor] : named_tensors(mlp)) {
    copies.push_back(tensor.detach().clone());
  }
  return copies;
}

void restore_weights(const std::vector<torch::Tensor>& copies, const MlpImpl& mlp) {
  const torch::NoGradGuard no_grad;
  std::size_t i = 0;
  for (auto& [name, tensor] : named_tensors(mlp)) {
    tensor.copy_(copies[i++]);
  }
}

}  // namespace

TrainingPart make_part(const Dataset& data, std::vector<std::int64_t> rows) {
  const auto width = static_cast<std::int64_t>(data.width());
  const auto count = static_cast<std::int64_t>(rows.size());
  TrainingPart part{std::move(rows), torch::empty({count, width}), torch::empty({count})};
  auto* inputs = part.inputs.data_ptr<float>();
  auto* targets = part.targets.data_ptr<float>();
  for (const std::int64_t row : part.rows) {
    const double* features = data.features.data() + row * width;
    for (std::int64_t i = 0; i < width; ++i) {
      *inputs++ = static_cast<float>(features[i]);
    }
    *targets++ = static_cast<float>(data.efficiency[static_cast<std::size_t>(row)]);
  }
  part.inputs.log1p_();
  return part;
}

Training::Training(const Dataset& data, TrainingPart training, TrainingPart validation,
                   const MlpOptions& options)
    : data_(data),
      options_(options),
      training_(std::move(training)),
      validation_(std::move(validation)),
      mlp_(static_cast<std::int64_t>(data.width())),
      optimizer_(
          mlp_->parameters(),
          torch::optim::AdamWOptions(options.learning_rate).weight_decay(options.weight_decay)),
      dropout_(options.dropout, static_cast<std::uint64_t>(options.seed)),
      shuffler_(static_cast<std::uint32_t>(options.seed)),
      order_(training_.rows.size()) {
  std::iota(order_.begin(), order_.end(), 0);
}

void Training::throw_not_finite(const TrainingPart& part, const torch::Tensor& rows,
                                const torch::Tensor& losses) const {
  const torch::Tensor bad_rows =
      ~(torch::isfinite(part.inputs).all(1) & torch::isfinite(part.targets)).index_select(0, rows);
  const bool bad_data = bad_rows.any().item<bool>();
  const torch::Tensor bad = bad_data ? bad_rows : ~torch::isfinite(losses);
  const auto in_part = rows[bad.nonzero()[0].item<std::int64_t>()].item<std::int64_t>();
  const auto row = static_cast<std::size_t>(part.rows[static_cast<std::size_t>(in_part)]);
  throw DataError(row_place(data_, row) +
                  (bad_data ? ": the loss is not finite because a feature or the efficiency of "
                              "this row is not: remove the row"
                            : ": the loss of this row's batch is not finite although its data is: "
                              "the training diverged, choose a smaller learning rate"));
}

double Training::train_batch(const torch::Tensor& rows) {
  optimizer_.zero_grad();
  const torch::Tensor predicted = mlp_->forward(training_.inputs.index_select(0, rows),
                                                [this](const auto& x) { return dropout_(x); });
  const torch::Tensor losses = losses_of(predicted, training_.targets.index_select(0, rows));
  const torch::Tensor loss = losses.mean();
  const double value = loss.item<double>();
  if (!std::isfinite(value)) {
    throw_not_finite(training_, rows, losses.detach());
  }
  loss.backward();
  torch::nn::utils::clip_grad_norm_(mlp_->parameters(), options_.clip_norm);
  optimizer_.step();
  return value;
}

double Training::train_epoch() {
  mlp_->train();
  shuffle(order_, shuffler_);
  const auto rows = static_cast<std::int64_t>(order_.size());
  const torch::Tensor order = torch::from_blob(order_.data(), {rows}, torch::kInt64);
  const std::vector<std::int64_t> bounds = batch_bounds(rows, options_.batch_size);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    sum += train_batch(order.slice(0, bounds[i], bounds[i + 1]));
  }
  return sum / static_cast<double>(bounds.size() - 1);
}

double Training::validation_loss() {
  const torch::NoGradGuard no_grad;
  mlp_->eval();
  const auto rows = static_cast<std::int64_t>(validation_.rows.size());
  std::vector<torch::Tensor> parts;
  for (std::int64_t begin = 0; begin < rows; begin += kRowsPerEvaluation) {
    const std::int64_t end = std::min(begin + kRowsPerEvaluation, rows);
    parts.push_back(losses_of(mlp_->forward(validation_.inputs.slice(0, begin, end)),
                              validation_.targets.slice(0, begin, end)));
  }
  const torch::Tensor losses = torch::cat(parts);
  double sum = 0;
  std::int64_t batches = 0;
  for (std::int64_t begin = 0; begin < rows; begin += options_.batch_size, ++batches) {
    sum +=
        losses.slice(0, begin, std::min(begin + options_.batch_size, rows)).mean().item<double>();
  }
  if (!std::isfinite(sum)) {
    throw_not_finite(validation_, torch::arange(rows), losses);
  }
  return sum / static_cast<double>(batches);
}

void Training::set_learning_rate(double learning_rate) {
  for (auto& group : optimizer_.param_groups()) {
    static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
  }
}

std::vector<std::pair<std::string, std::string>> Training::run(const ProgressCallback& progress) {
  PlateauSchedule schedule(options_.learning_rate, options_.scheduler_factor,
                           options_.scheduler_patience, options_.min_learning_rate);
  EpochLosses best;
  std::vector<torch::Tensor> best_weights;
  std::int64_t best_epoch = 0;
  std::int64_t epoch = 0;
  for (; epoch < options_.epochs && epoch - best_epoch <= options_.early_stopping_patience;
       ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double learning_rate = schedule.learning_rate();
    EpochLosses losses;
    losses.training = train_epoch();
    losses.validation = validation_loss();
    const bool is_best = losses.validation < best.validation;
    if (is_best) {
      best = losses;
      best_epoch = epoch;
      best_weights = copy_weights(*mlp_);
    }
    set_learning_rate(schedule.step(losses.validation));
    if (progress) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      progress({epoch, options_.epochs, losses.training, losses.validation, learning_rate,
                seconds.count(), is_best});
    }
  }
  restore_weights(best_weights, *mlp_);
  return {{"epochs_run", std::to_string(epoch)},
          {"best_epoch", std::to_string(best_epoch)},
          {"train_loss", python_repr(best.training)},
          {"validation_loss", python_repr(best.validation)}};
}

}  // namespace pw
