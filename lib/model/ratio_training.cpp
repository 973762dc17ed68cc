#include "model/ratio_training.h"

#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include "model/pinball.h"
#include "model/split.h"

namespace pw {
namespace {

// The value below which `share` of a sorted column lies.
torch::Tensor column_quantile(const torch::Tensor& sorted, double share) {
  const auto last = static_cast<double>(sorted.size(0) - 1);
  return sorted[static_cast<std::int64_t>(std::llround(share * last))];
}

// The targets below which each of the shares of them lies.
std::vector<double> values_at(const torch::Tensor& targets, const std::vector<double>& shares) {
  const auto last = static_cast<double>(targets.size(0) - 1);
  std::vector<double> values;
  for (const double share : shares) {
    const std::int64_t place = 1 + static_cast<std::int64_t>(share * last);
    values.push_back(std::get<0>(targets.kthvalue(place)).item<double>());
  }
  return values;
}

void set_learning_rate(torch::optim::AdamW& optimizer, double learning_rate) {
  for (auto& group : optimizer.param_groups()) {
    static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
  }
}

// One member of an ensemble while it is trained.
class MemberTraining {
 public:
  MemberTraining(const torch::Tensor& inputs, const torch::Tensor& targets,
                 const std::vector<double>& levels, const RatioOptions& options,
                 std::int64_t member)
      : inputs_(inputs),
        targets_(targets),
        levels_(torch::tensor(levels, torch::kFloat32)),
        options_(options),
        net_(inputs.size(1), options.hidden_widths, static_cast<std::int64_t>(levels.size())),
        optimizer_(
            net_->parameters(),
            torch::optim::AdamWOptions(options.learning_rate).weight_decay(options.weight_decay)),
        shuffler_(static_cast<std::uint32_t>(options.seed + member)),
        order_(static_cast<std::size_t>(inputs.size(0))) {
    net_->set_output_levels(values_at(targets, levels));
    std::iota(order_.begin(), order_.end(), 0);
  }

  // Returns the mean of the batch losses.
  double epoch(std::int64_t number) {
    shuffle(order_, shuffler_);
    const std::int64_t rows = inputs_.size(0);
    const std::int64_t batches = (rows + options_.batch_size - 1) / options_.batch_size;
    const torch::Tensor order = torch::from_blob(order_.data(), {rows}, torch::kInt64);
    double sum = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const std::int64_t begin = batch * options_.batch_size;
      rate_ = one_cycle_rate(number * batches + batch, options_.epochs * batches, options_.warm_up,
                             options_.learning_rate);
      set_learning_rate(optimizer_, rate_);
      sum += step(order.slice(0, begin, std::min(begin + options_.batch_size, rows)));
    }
    return sum / static_cast<double>(batches);
  }

  double learning_rate() const { return rate_; }
  RatioNet net() const { return net_; }

 private:
  double step(const torch::Tensor& rows) {
    optimizer_.zero_grad();
    torch::Tensor x = inputs_.index_select(0, rows);
    if (options_.input_noise > 0) {
      x = x + options_.input_noise * torch::randn_like(x);
    }
    const torch::Tensor targets = targets_.index_select(0, rows).unsqueeze(1);
    const torch::Tensor loss = 2 * pinball(net_->forward(x), targets, levels_).mean();
    const double value = loss.item<double>();
    if (!std::isfinite(value)) {
      throw DataError("the training diverged (loss is not finite), choose a smaller learning rate");
    }
    loss.backward();
    torch::nn::utils::clip_grad_norm_(net_->parameters(), options_.clip_norm);
    optimizer_.step();
    return value;
  }

  const torch::Tensor& inputs_;
  const torch::Tensor& targets_;
  const torch::Tensor levels_;
  const RatioOptions& options_;
  RatioNet net_;
  torch::optim::AdamW optimizer_;
  std::mt19937 shuffler_;
  std::vector<std::int64_t> order_;
  double rate_ = 0;
};

}  // namespace

RatioPart make_ratio_part(const Dataset& data, const std::vector<std::int64_t>& rows) {
  const auto width = static_cast<std::int64_t>(data.width());
  const auto count = static_cast<std::int64_t>(rows.size());
  RatioPart part{torch::empty({count, width}), torch::empty({count})};
  auto* features = part.features.data_ptr<float>();
  auto* targets = part.targets.data_ptr<float>();
  for (const std::int64_t number : rows) {
    const auto row = static_cast<std::size_t>(number);
    for (std::size_t i = 0; i < data.width(); ++i) {
      *features++ = static_cast<float>(data.features[row * data.width() + i]);
    }
    const double target =
        output_of(ModelKind::log_ratio, data.duration_us[row], data.reference_us[row]);
    if (!std::isfinite(target)) {
      throw DataError(row_place(data, row) + ": duration over bound is not finite: remove the row");
    }
    *targets++ = static_cast<float>(target);
  }
  return part;
}

RatioScaling scaling_of(const RatioPart& part, double clip_share) {
  const torch::Tensor sorted = std::get<0>(part.features.sort(0));
  const torch::Tensor outputs = std::get<0>(part.targets.sort(0));
  RatioScaling scaling;
  scaling.low = column_quantile(sorted, clip_share).clone();
  scaling.high = column_quantile(sorted, 1 - clip_share).clone();
  scaling.mean = part.features.mean(0);
  scaling.std = part.features.std(0, false);
  // A constant feature tells nothing; any scale will do.
  scaling.std = torch::where(scaling.std > 1e-6, scaling.std, torch::ones_like(scaling.std));
  scaling.output_low = column_quantile(outputs, clip_share).item<double>();
  scaling.output_high = column_quantile(outputs, 1 - clip_share).item<double>();
  return scaling;
}

double one_cycle_rate(std::int64_t step, std::int64_t steps, double warm_up, double maximum) {
  constexpr double kStartDivisor = 25;
  constexpr double kEndDivisor = 25e4;
  const double position = static_cast<double>(step) / static_cast<double>(steps);
  const auto cosine = [](double from, double to, double share) {
    return to + (from - to) * (1 + std::cos(std::acos(-1.0) * share)) / 2;
  };
  return position < warm_up
             ? cosine(maximum / kStartDivisor, maximum, position / warm_up)
             : cosine(maximum, maximum / kEndDivisor, (position - warm_up) / (1 - warm_up));
}

std::vector<RatioNet> fit_ensemble(const RatioPart& part, const RatioScaling& scaling,
                                   const RatioOptions& options, const ProgressCallback& progress,
                                   const std::vector<double>& levels) {
  const torch::Tensor clipped =
      torch::minimum(torch::maximum(part.features, scaling.low), scaling.high);
  const torch::Tensor inputs = (clipped - scaling.mean) / scaling.std;
  std::vector<RatioNet> members;
  for (std::int64_t member = 0; member < options.members; ++member) {
    torch::manual_seed(static_cast<std::uint64_t>(options.seed + member));
    MemberTraining training(inputs, part.targets, levels, options, member);
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
      const auto start = std::chrono::steady_clock::now();
      const double loss = training.epoch(epoch);
      if (progress) {
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        EpochReport report;
        report.epoch = member * options.epochs + epoch;
        report.epochs = options.members * options.epochs;
        report.train_loss = loss;
        report.learning_rate = training.learning_rate();
        report.seconds = seconds.count();
        progress(report);
      }
    }
    members.push_back(training.net());
  }
  return members;
}

}  // namespace pw
