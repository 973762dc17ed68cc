#include "model/ratio_training.h"

#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

#include "model/device.h"
#include "model/pinball.h"
#include "model/split.h"
#include "model/training.h"

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

NamedTensors parameters_in(const RatioNetImpl& net) {
  NamedTensors tensors;
  for (const auto& parameter : net.named_parameters()) {
    tensors.emplace_back(parameter.key(), parameter.value());
  }
  return tensors;
}

RatioNet initial_net(std::int64_t features, std::size_t outputs, const RatioOptions& options,
                     std::int64_t member) {
  torch::manual_seed(static_cast<std::uint64_t>(options.seed + member));
  return RatioNet(features, options.hidden_widths, static_cast<std::int64_t>(outputs));
}

std::string net_prefix(std::size_t number) { return "net" + std::to_string(number) + "/"; }

}  // namespace

// One member of an ensemble while it is trained.
class MemberTraining {
 public:
  // Draws the initial weights from LibTorch's global generator, and the noise too: one member is
  // trained at a time.
  MemberTraining(const torch::Tensor& inputs, const RatioPart& part,
                 const std::vector<double>& levels, const RatioOptions& options,
                 std::int64_t member)
      : inputs_(inputs),
        part_(part),
        levels_(torch::tensor(levels, torch::kFloat32).to(inputs.device())),
        options_(options),
        net_(initial_net(inputs.size(1), levels.size(), options, member)),
        optimizer_(
            parameters_on(inputs.device(), *net_),
            torch::optim::AdamWOptions(options.learning_rate).weight_decay(options.weight_decay)),
        shuffler_(static_cast<std::uint32_t>(options.seed + member)),
        order_(static_cast<std::size_t>(inputs.size(0))) {
    net_->set_output_levels(values_at(part.targets, levels));
    std::iota(order_.begin(), order_.end(), 0);
  }

  bool finished() const { return epochs_ >= options_.epochs; }

  EpochReport next_epoch() {
    EpochReport report;
    report.epoch = epochs_;
    report.train_loss = train_epoch();
    report.learning_rate = rate_;
    ++epochs_;
    return report;
  }

  void save(TrainingState& state) const {
    put_tensors(state, "network/", parameters_in(*net_));
    put_optimizer(state, optimizer_);
    state.put_integers("order", order_);
    state.put_integers("member_epochs", {epochs_});
    std::ostringstream shuffler;
    shuffler << shuffler_;
    state.put_text("shuffler", shuffler.str());
    state.put("noise_generator", at::detail::getDefaultCPUGenerator().get_state());
  }

  void load(const TrainingState& state) {
    take_tensors(state, "network/", parameters_in(*net_));
    take_optimizer(state, optimizer_, inputs_.device());
    order_ = state.get_integers("order");
    epochs_ = state.get_integers("member_epochs").at(0);
    std::istringstream(state.get_text("shuffler")) >> shuffler_;
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_state(state.get("noise_generator"));
  }

  RatioNet net() const { return net_; }

 private:
  // Returns the mean of the batch losses.
  double train_epoch() {
    shuffle(order_, shuffler_);
    const std::int64_t rows = inputs_.size(0);
    const std::int64_t batches = (rows + options_.batch_size - 1) / options_.batch_size;
    const torch::Tensor order =
        torch::from_blob(order_.data(), {rows}, torch::kInt64).to(inputs_.device());
    double sum = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const std::int64_t begin = batch * options_.batch_size;
      rate_ = one_cycle_rate(epochs_ * batches + batch, options_.epochs * batches, options_.warm_up,
                             options_.learning_rate);
      set_learning_rate(optimizer_, rate_);
      sum += step(order.slice(0, begin, std::min(begin + options_.batch_size, rows)));
    }
    return sum / static_cast<double>(batches);
  }

  double step(const torch::Tensor& rows) {
    optimizer_.zero_grad();
    torch::Tensor x = inputs_.index_select(0, rows);
    if (options_.input_noise > 0) {  // drawn on the host, so that it is the same on every device
      x = x + options_.input_noise * torch::randn(x.sizes()).to(x.device());
    }
    const auto select = [&](const torch::Tensor& values) {
      return values.index_select(0, rows).unsqueeze(1);
    };
    torch::Tensor losses = 2 * pinball(net_->forward(x), select(part_.targets), levels_);
    if (part_.weights.defined()) {
      losses = losses * select(part_.weights);
    }
    const torch::Tensor loss = losses.mean();
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
  const RatioPart& part_;
  const torch::Tensor levels_;
  const RatioOptions& options_;
  RatioNet net_;
  torch::optim::AdamW optimizer_;
  std::mt19937 shuffler_;
  std::vector<std::int64_t> order_;
  std::int64_t epochs_ = 0;
  double rate_ = 0;
};

RatioPart make_ratio_part(const Dataset& data, const std::vector<std::int64_t>& rows) {
  const auto width = static_cast<std::int64_t>(data.width());
  const auto count = static_cast<std::int64_t>(rows.size());
  RatioPart part{torch::empty({count, width}), torch::empty({count}), weights_of(data, rows)};
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

torch::Tensor network_inputs(const RatioPart& part, const RatioScaling& scaling) {
  const torch::Tensor clipped =
      torch::minimum(torch::maximum(part.features, scaling.low), scaling.high);
  return (clipped - scaling.mean) / scaling.std;
}

EnsembleTraining::EnsembleTraining(const Dataset& data,
                                   const std::vector<std::vector<std::int64_t>>& rows_of_fits,
                                   const RatioOptions& options, std::vector<double> levels,
                                   std::size_t ensembles)
    : options_(options),
      levels_(std::move(levels)),
      ensembles_(ensembles),
      device_(torch_device(options.device)) {
  for (const std::vector<std::int64_t>& rows : rows_of_fits) {
    Fit fit{make_ratio_part(data, rows), {}, {}};
    fit.scaling = scaling_of(fit.part, kClipShare);
    fit.inputs = network_inputs(fit.part, fit.scaling).to(device_);
    fit.part.features.reset();
    fit.part.targets = fit.part.targets.to(device_);
    if (fit.part.weights.defined()) {
      fit.part.weights = fit.part.weights.to(device_);
    }
    fits_.push_back(std::move(fit));
  }
}

EnsembleTraining::~EnsembleTraining() = default;

std::int64_t EnsembleTraining::members_of(std::size_t fit) const {
  return fit < ensembles_ ? options_.members : 1;
}

std::size_t EnsembleTraining::first_member(std::size_t fit) const {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < fit; ++i) {
    before += members_of(i);
  }
  return static_cast<std::size_t>(before);
}

std::size_t EnsembleTraining::complete_fits() const {
  std::size_t complete = 0;
  while (complete < fits_.size() && finished_.size() >= first_member(complete + 1)) {
    ++complete;
  }
  return complete;
}

bool EnsembleTraining::finished() const { return complete_fits() == fits_.size(); }

void EnsembleTraining::start_member() {
  const std::size_t number = complete_fits();
  const Fit& fit = fits_[number];
  const auto member = static_cast<std::int64_t>(finished_.size() - first_member(number));
  member_ = std::make_unique<MemberTraining>(fit.inputs, fit.part, levels_, options_, member);
}

EpochReport EnsembleTraining::next_epoch() {
  if (!member_) {
    start_member();
  }
  EpochReport report = member_->next_epoch();
  report.epochs = options_.epochs * static_cast<std::int64_t>(first_member(fits_.size()));
  if (member_->finished()) {
    finished_.push_back(member_->net());
    finished_.back()->to(torch::kCPU);
    member_.reset();
  }
  return report;
}

void EnsembleTraining::save(TrainingState& state) const {
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    put_tensors(state, net_prefix(i), parameters_in(*finished_[i]));
  }
  state.put_integers("finished", {static_cast<std::int64_t>(finished_.size()), member_ ? 1 : 0});
  if (member_) {
    member_->save(state);
  }
}

void EnsembleTraining::load(const TrainingState& state) {
  const std::vector<std::int64_t> finished = state.get_integers("finished");
  for (std::size_t i = 0; i < static_cast<std::size_t>(finished.at(0)); ++i) {
    finished_.push_back(new_net());
    take_tensors(state, net_prefix(i), parameters_in(*finished_.back()));
  }
  if (finished.at(1) != 0) {
    start_member();
    member_->load(state);
  }
}

std::vector<RatioNet> EnsembleTraining::members(std::size_t fit) const {
  const auto begin = finished_.begin() + static_cast<std::ptrdiff_t>(first_member(fit));
  return {begin, begin + members_of(fit)};
}

RatioNet EnsembleTraining::new_net() const {
  return RatioNet(fits_[0].inputs.size(1), options_.hidden_widths,
                  static_cast<std::int64_t>(levels_.size()));
}

std::int64_t EnsembleTraining::parameters() const {
  return options_.members * parameters_of(*new_net());
}

}  // namespace pw
