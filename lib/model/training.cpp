#include "model/training.h"

#include <cmath>
#include <numeric>
#include <sstream>

#include "io/json_file.h"
#include "model/device.h"
#include "model/pinball.h"
#include "model/split.h"

namespace pw {
namespace {

constexpr double kTargetOffset = 1e-9;  // the published loss: abs((y - p) / (y + 1e-9))
constexpr std::int64_t kRowsPerEvaluation = 1 << 15;

torch::Tensor relative_errors(const torch::Tensor& predicted, const torch::Tensor& targets) {
  return ((targets - predicted) / (targets + kTargetOffset)).abs();
}

// One loss per row of a batch; `rows` selects from the part.
template <class Selection>
torch::Tensor losses_of(const torch::Tensor& predicted, const TrainingPart& part,
                        const std::optional<double>& quantile, const Selection& select) {
  const torch::Tensor targets = select(part.targets);
  const torch::Tensor losses =
      quantile ? pinball(predicted, targets, torch::tensor(*quantile, targets.options()))
               : relative_errors(predicted, targets);
  return part.weights.defined() ? losses * select(part.weights) : losses;
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

NamedTensors copies_of(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors) {
    copies.emplace_back(name, tensor.detach().clone());
  }
  return copies;
}

void move_to(torch::Device device, TrainingPart& part) {
  for (torch::Tensor* tensor : {&part.inputs, &part.targets, &part.weights}) {
    if (tensor->defined()) {
      *tensor = tensor->to(device);
    }
  }
}

}  // namespace

torch::Tensor weights_of(const Dataset& data, const std::vector<std::int64_t>& rows) {
  if (data.weight.empty()) {
    return {};
  }
  torch::Tensor weights = torch::empty({static_cast<std::int64_t>(rows.size())}, torch::kFloat64);
  auto* weight = weights.data_ptr<double>();
  for (const std::int64_t row : rows) {
    *weight++ = data.weight[static_cast<std::size_t>(row)];
  }
  return (weights / weights.mean()).to(torch::kFloat32);
}

std::vector<torch::Tensor> parameters_on(torch::Device device, torch::nn::Module& module) {
  module.to(device);
  return module.parameters();
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double learning_rate) {
  for (auto& group : optimizer.param_groups()) {
    group.options().set_lr(learning_rate);
  }
}

TrainingPart make_part(const Dataset& data, std::vector<std::int64_t> rows) {
  const auto width = static_cast<std::int64_t>(data.width());
  const auto count = static_cast<std::int64_t>(rows.size());
  TrainingPart part{std::move(rows), torch::empty({count, width}), torch::empty({count}), {}};
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
  part.weights = weights_of(data, part.rows);
  return part;
}

Training::Training(const Dataset& data, TrainingPart training, TrainingPart validation,
                   const MlpOptions& options)
    : data_(data),
      options_(options),
      device_(torch_device(options.device)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      mlp_(static_cast<std::int64_t>(data.width())),
      optimizer_(
          parameters_on(device_, *mlp_),
          torch::optim::AdamWOptions(options.learning_rate).weight_decay(options.weight_decay)),
      schedule_(options.learning_rate, options.scheduler_factor, options.scheduler_patience,
                options.min_learning_rate),
      dropout_(options.dropout, static_cast<std::uint64_t>(options.seed)),
      shuffler_(static_cast<std::uint32_t>(options.seed)),
      order_(training_.rows.size()) {
  move_to(device_, training_);
  move_to(device_, validation_);
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
  const torch::Tensor losses = losses_of(predicted, training_, options_.quantile,
                                         [&](const auto& x) { return x.index_select(0, rows); });
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
  const torch::Tensor order = torch::from_blob(order_.data(), {rows}, torch::kInt64).to(device_);
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
    const auto select = [&](const auto& x) { return x.slice(0, begin, end); };
    parts.push_back(losses_of(mlp_->forward(select(validation_.inputs)), validation_,
                              options_.quantile, select));
  }
  const torch::Tensor losses = torch::cat(parts);
  double sum = 0;
  std::int64_t batches = 0;
  for (std::int64_t begin = 0; begin < rows; begin += options_.batch_size, ++batches) {
    sum +=
        losses.slice(0, begin, std::min(begin + options_.batch_size, rows)).mean().item<double>();
  }
  if (!std::isfinite(sum)) {
    throw_not_finite(validation_, torch::arange(rows, device_), losses);
  }
  return sum / static_cast<double>(batches);
}

bool Training::finished() const {
  return progress_.epochs >= options_.epochs ||
         (validates() &&
          progress_.epochs - progress_.best_epoch > options_.early_stopping_patience);
}

EpochReport Training::next_epoch() {
  EpochReport report;
  report.epochs = options_.epochs;
  report.learning_rate = schedule_.learning_rate();
  report.train_loss = train_epoch();
  if (validates()) {
    report.validation_loss = validation_loss();
  }
  report.best = validates() ? *report.validation_loss < progress_.best_validation_loss
                            : report.train_loss < progress_.best_training_loss;
  if (report.best) {
    progress_.best_training_loss = report.train_loss;
    progress_.best_validation_loss = report.validation_loss.value_or(0);
    progress_.best_epoch = progress_.epochs;
    best_weights_ = copies_of(named_tensors(*mlp_));
  }
  if (validates()) {
    set_learning_rate(optimizer_, schedule_.step(*report.validation_loss));
  }
  ++progress_.epochs;
  return report;
}

void Training::save(TrainingState& state) const {
  put_tensors(state, "network/", named_tensors(*mlp_));
  put_tensors(state, "best/", best_weights_);
  put_optimizer(state, optimizer_);
  const PlateauSchedule::State& schedule = schedule_.state();
  state.put("losses", torch::tensor({progress_.best_training_loss, progress_.best_validation_loss,
                                     schedule.learning_rate, schedule.best},
                                    torch::kFloat64));
  state.put_integers("counts", {progress_.epochs, progress_.best_epoch, schedule.bad_epochs,
                                static_cast<std::int64_t>(dropout_.state())});
  state.put_integers("order", order_);
  std::ostringstream shuffler;
  shuffler << shuffler_;
  state.put_text("shuffler", shuffler.str());
}

void Training::load(const TrainingState& state) {
  take_tensors(state, "network/", named_tensors(*mlp_));
  best_weights_ = copies_of(named_tensors(*mlp_));
  take_tensors(state, "best/", best_weights_);
  take_optimizer(state, optimizer_, device_);
  const torch::Tensor losses = state.get("losses");
  const auto* loss = losses.data_ptr<double>();
  const std::vector<std::int64_t> counts = state.get_integers("counts");
  progress_ = {counts.at(0), counts.at(1), loss[0], loss[1]};
  schedule_.restore({loss[2], loss[3], counts.at(2)});
  set_learning_rate(optimizer_, schedule_.learning_rate());  // LibTorch 1.13 does not load it
  dropout_.restore(static_cast<std::uint64_t>(counts.at(3)));
  order_ = state.get_integers("order");
  std::istringstream(state.get_text("shuffler")) >> shuffler_;
}

MlpImpl& Training::best_network() {
  const torch::NoGradGuard no_grad;
  const NamedTensors tensors = named_tensors(*mlp_);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    torch::Tensor tensor = tensors[i].second;
    tensor.copy_(best_weights_[i].second);
  }
  mlp_->to(torch::kCPU);
  return *mlp_;
}

std::vector<std::pair<std::string, std::string>> Training::result() const {
  NamedValues values{{"epochs_run", std::to_string(progress_.epochs)},
                     {"best_epoch", std::to_string(progress_.best_epoch)},
                     {"train_loss", python_repr(progress_.best_training_loss)}};
  if (validates()) {
    values.emplace_back("validation_loss", python_repr(progress_.best_validation_loss));
  }
  return values;
}

}  // namespace pw
