#include "native/network.h"

#include <algorithm>
#include <cmath>

namespace pw {
namespace {

// What members of an ensemble are given.
constexpr char kStandardised[] =
    "torch.div(torch.sub(torch.minimum(torch.maximum(features, self.low), self.high), self.mean), "
    "self.std)";

constexpr std::size_t kRowsAtOnce = 192;  // of both buffers, about what the L2 cache holds

[[noreturn]] void unknown(const std::string& what) {
  throw UnknownNetwork("its " + what + " is computed in another way than pw-train writes");
}

double number_of(const ScriptMatch& found, const char* name) {
  const ScriptExprPtr& value = found.at(name);
  if (value->kind != ScriptExpr::Kind::number) {
    throw UnknownNetwork("its code computes what pw-train writes as a number");
  }
  return value->number;
}

float float_of(const ScriptMatch& found, const char* name) {
  return static_cast<float>(number_of(found, name));
}

StateTensor tensor_of(const ScriptModule& module, const ScriptMatch& found, const char* name) {
  const ScriptExprPtr& value = found.at(name);
  if (value->kind != ScriptExpr::Kind::attribute) {
    throw UnknownNetwork("its code computes what pw-train writes as a weight");
  }
  return module.tensor(value->text);
}

void require(bool condition) {
  if (!condition) throw UnknownNetwork("its tensors have other shapes than pw-train writes");
}

std::vector<float> floats(const std::vector<double>& values) {
  return std::vector<float>(values.begin(), values.end());
}

std::vector<float> vector_of(const ScriptModule& module, const std::string& path,
                             std::size_t size) {
  const StateTensor tensor = module.tensor(path);
  require(tensor.shape.size() == 1 && tensor.values.size() == size);
  return floats(tensor.values);
}

// What BatchNorm does to each of its inputs with its running statistics: x * scale + shift.
struct Affine {
  std::vector<double> scale, shift;
};

Affine read_norm(const ScriptModule& module, const ScriptMatch& found) {
  const StateTensor gamma = tensor_of(module, found, "$gamma");
  const StateTensor beta = tensor_of(module, found, "$beta");
  const StateTensor mean = tensor_of(module, found, "$mean");
  const StateTensor variance = tensor_of(module, found, "$variance");
  const double epsilon = number_of(found, "$epsilon");
  const std::size_t width = gamma.values.size();
  require(beta.values.size() == width && mean.values.size() == width &&
          variance.values.size() == width);
  Affine norm;
  for (std::size_t i = 0; i < width; ++i) {
    norm.scale.push_back(gamma.values[i] / std::sqrt(variance.values[i] + epsilon));
    norm.shift.push_back(beta.values[i] - mean.values[i] * norm.scale[i]);
  }
  return norm;
}

// A linear layer behind a BatchNorm or none: W (x * scale + shift) + b, folded in double.
DenseLayer make_layer(const StateTensor& weight, const StateTensor& bias,
                      const std::optional<Affine>& norm, bool relu) {
  require(weight.shape.size() == 2 && bias.shape.size() == 1 && weight.shape[0] == bias.shape[0]);
  const auto outputs = static_cast<std::size_t>(weight.shape[0]);
  const auto inputs = static_cast<std::size_t>(weight.shape[1]);
  require(!norm || norm->scale.size() == inputs);
  std::vector<double> weights = weight.values;
  std::vector<double> biases = bias.values;
  for (std::size_t o = 0; norm && o < outputs; ++o) {
    for (std::size_t i = 0; i < inputs; ++i) {
      double& w = weights[o * inputs + i];
      biases[o] += w * norm->shift[i];
      w *= norm->scale[i];
    }
  }
  return DenseLayer(outputs, inputs, floats(weights), floats(biases), relu);
}

// As torch.softplus: a line from 20 on.
float softplus(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// Written so that a NaN stays one.
float clipped(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }

}  // namespace

Network::Network(const ScriptModule& module) {
  read_output(module);
  check_shapes();
}

void Network::read_output(const ScriptModule& module) {
  const ScriptExprPtr forward = module.method("", "forward");
  if (module.has_method("quantiles")) {
    read_quantiles(module, forward);
  } else if (const auto ensemble =
                 match("torch.clamp(torch.squeeze(self.ensemble_mean(features), 1), $low, $high)",
                       forward)) {
    range_ = Range{float_of(*ensemble, "$low"), float_of(*ensemble, "$high")};
    read_ensemble(module);
  } else {
    const auto sigmoid = match("torch.squeeze(torch.sigmoid($y), 1)", forward);
    const auto plain = match("torch.squeeze($y, 1)", forward);
    if (!sigmoid && !plain) unknown("output");
    sigmoid_ = sigmoid.has_value();
    if (!match("torch.log1p(features)",
               read_layers(module, (sigmoid ? *sigmoid : *plain).at("$y")))) {
      unknown("input");
    }
  }
}

void Network::read_quantiles(const ScriptModule& module, const ScriptExprPtr& forward) {
  const auto chosen = match(
      "torch.contiguous(torch.select(torch.slice(self.quantiles(features)), 1, $main))", forward);
  const auto clamp = match("torch.clamp($y, $low, $high)", module.method("", "quantiles"));
  if (!chosen || !clamp) unknown("output");
  main_output_ = static_cast<std::size_t>(number_of(*chosen, "$main"));
  range_ = Range{float_of(*clamp, "$low"), float_of(*clamp, "$high")};
  const ScriptExprPtr& minimum = clamp->at("$y");
  const auto sum = minimum->kind == ScriptExpr::Kind::item && minimum->number == 0
                       ? match("torch.cummin(torch.add(self.ensemble_mean(features), $shift), 1)",
                               minimum->parts.front())
                       : std::nullopt;
  if (!sum) unknown("output");
  read_calibration(module, sum->at("$shift"));
  read_ensemble(module);
}

void Network::read_calibration(const ScriptModule& module, const ScriptExprPtr& shift) {
  Calibration calibration;
  calibration.common_shift = floats(module.tensor("common_shift").values);
  if (match("self.common_shift", shift)) {
    calibration_ = std::move(calibration);
    return;
  }
  const auto sum = match(
      "torch.add(torch.mm($known, self.shifts), torch.mul(torch.add(torch.neg(torch.sum($known, "
      "[1], True)), 1), self.common_shift))",
      shift);
  const auto known =
      sum ? match(
                "torch.to(torch.all(torch.lt(torch.abs(torch.sub(torch.unsqueeze(torch.index_"
                "select(features, 1, self.columns), 1), self.keys)), $tolerance), 2), "
                "ops.prim.dtype(features))",
                sum->at("$known"))
          : std::nullopt;
  if (!known) unknown("output");
  calibration.tolerance = number_of(*known, "$tolerance");
  const StateTensor columns = module.tensor("columns");
  for (const double column : columns.values) {
    require(column >= 0);
    calibration.columns.push_back(static_cast<std::size_t>(column));
  }
  const StateTensor keys = module.tensor("keys");
  const StateTensor shifts = module.tensor("shifts");
  require(keys.shape.size() == 2 && shifts.shape.size() == 2 && keys.shape[0] == shifts.shape[0] &&
          keys.shape[1] == static_cast<std::int64_t>(calibration.columns.size()) &&
          shifts.shape[1] == static_cast<std::int64_t>(calibration.common_shift.size()));
  calibration.keys = floats(keys.values);
  calibration.shifts = floats(shifts.values);
  calibration_ = std::move(calibration);
}

void Network::read_ensemble(const ScriptModule& module) {
  const auto mean = match("torch.div($sum, $count)", module.method("", "ensemble_mean"));
  if (!mean) unknown("mean of members");
  std::vector<ScriptExprPtr> calls;  // from the last to the first
  ScriptExprPtr sum = mean->at("$sum");
  while (const auto addition = match("torch.add($rest, $last)", sum)) {
    calls.push_back(addition->at("$last"));
    sum = addition->at("$rest");
  }
  calls.push_back(sum);
  if (number_of(*mean, "$count") != static_cast<double>(calls.size())) unknown("mean of members");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string path = "member" + std::to_string(i);
    const auto call =
        match("self." + path + ".forward(" + kStandardised + ")", calls[calls.size() - 1 - i]);
    if (!call) unknown("mean of members");
    read_member(module, path);
  }
  read_scaling(module);
}

void Network::read_member(const ScriptModule& module, const std::string& path) {
  ScriptExprPtr output = module.method(path, "forward");
  const auto falling = match(
      "torch.cumsum(torch.cat([torch.slice(torch.slice($y), 1, None, 1), "
      "torch.neg(torch.softplus(torch.slice(torch.slice($y), 1, 1)))], 1), 1)",
      output);
  if (!members_.empty() && falling_ != falling.has_value()) unknown("mean of members");
  falling_ = falling.has_value();
  if (!match("features", read_layers(module, falling ? falling->at("$y") : output))) {
    unknown("input");
  }
}

void Network::read_scaling(const ScriptModule& module) {
  scaling_ = Scaling{vector_of(module, "low", inputs()), vector_of(module, "high", inputs()),
                     vector_of(module, "mean", inputs()), vector_of(module, "std", inputs())};
}

ScriptExprPtr Network::read_layers(const ScriptModule& module, ScriptExprPtr output) {
  Member member;
  bool relu = false;
  for (;;) {
    const auto linear = match("torch.linear($x, $weight, $bias)", output);
    if (!linear) unknown("layers");
    output = linear->at("$x");
    const auto norm = match(
        "torch.batch_norm(torch.relu($x), $gamma, $beta, $mean, $variance, False, $momentum, "
        "$epsilon, False)",
        output);
    member.push_back(
        make_layer(tensor_of(module, *linear, "$weight"), tensor_of(module, *linear, "$bias"),
                   norm ? std::optional(read_norm(module, *norm)) : std::nullopt, relu));
    const auto activation = norm ? norm : match("torch.relu($x)", output);
    if (!activation) break;
    output = activation->at("$x");
    relu = true;
  }
  std::reverse(member.begin(), member.end());
  members_.push_back(std::move(member));
  return output;
}

void Network::check_shapes() const {
  for (const Member& member : members_) {
    require(member.front().inputs() == inputs() && member.back().outputs() == outputs());
    for (std::size_t layer = 1; layer < member.size(); ++layer) {
      require(member[layer].inputs() == member[layer - 1].outputs());
    }
  }
  // Without quantiles the only output loses its dimension.
  require(calibration_ ? calibration_->common_shift.size() == outputs() : outputs() == 1);
  require(main_output_ < outputs() && (outputs() == 1 || falling_));
  if (calibration_) {
    for (const std::size_t column : calibration_->columns) require(column < inputs());
  }
}

// Activations of the layers, in turns.
class Network::Buffers {
 public:
  Buffers(const std::vector<Member>& members, std::size_t rows)
      : input(rows, members.front().front().inputs()) {
    std::size_t width = 0;
    for (const Member& member : members) {
      for (const DenseLayer& layer : member) width = std::max(width, layer.outputs());
    }
    activations.assign(2, PaddedRows(rows, width));
  }

  PaddedRows input;
  std::vector<PaddedRows> activations;
};

void Network::load_inputs(const float* features, std::size_t rows, PaddedRows& x) const {
  const std::size_t width = inputs();
  for (std::size_t row = 0; row < rows; ++row, features += width) {
    float* to = x.row(row);
    for (std::size_t i = 0; i < width; ++i) {
      to[i] =
          scaling_
              ? (clipped(features[i], scaling_->low[i], scaling_->high[i]) - scaling_->mean[i]) /
                    scaling_->std[i]
              : std::log1p(features[i]);
    }
  }
}

const PaddedRows& Network::run_member(const Member& member, std::size_t rows,
                                      Buffers& buffers) const {
  const PaddedRows* x = &buffers.input;
  for (std::size_t layer = 0; layer < member.size(); ++layer) {
    PaddedRows& y = buffers.activations[layer % 2];
    member[layer].forward(*x, rows, y);
    x = &y;
  }
  return *x;
}

// From the mean of the members to the module's output.
void Network::finish(const float* features, float* outputs) const {
  const std::size_t count = this->outputs();
  if (calibration_) {
    const Calibration& calibration = *calibration_;
    const std::size_t width = calibration.columns.size();
    std::vector<float> shift(count, 0);
    float others = 1;
    for (std::size_t gpu = 0; gpu * count < calibration.shifts.size(); ++gpu) {
      bool known = true;
      for (std::size_t i = 0; i < width; ++i) {
        const float difference =
            features[calibration.columns[i]] - calibration.keys[gpu * width + i];
        known = known && std::abs(difference) < calibration.tolerance;
      }
      if (!known) continue;
      others -= 1;
      for (std::size_t i = 0; i < count; ++i) shift[i] += calibration.shifts[gpu * count + i];
    }
    for (std::size_t i = 0; i < count; ++i) {
      outputs[i] += shift[i] + others * calibration.common_shift[i];
      if (i > 0 && outputs[i - 1] < outputs[i]) outputs[i] = outputs[i - 1];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (sigmoid_) outputs[i] = 1 / (1 + std::exp(-outputs[i]));
    if (range_) outputs[i] = clipped(outputs[i], range_->low, range_->high);
  }
}

// Calls use(member, row, outputs) for each.
template <class Use>
void Network::for_each_member_output(const std::vector<float>& features, Use use) const {
  const std::size_t rows = features.size() / inputs();
  Buffers buffers(members_, std::min(rows, kRowsAtOnce));
  std::vector<float> falling(outputs());
  for (std::size_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows - begin);
    load_inputs(features.data() + begin * inputs(), count, buffers.input);
    for (std::size_t member = 0; member < members_.size(); ++member) {
      const PaddedRows& y = run_member(members_[member], count, buffers);
      for (std::size_t row = 0; row < count; ++row) {
        falling.assign(y.row(row), y.row(row) + outputs());
        for (std::size_t i = 1; falling_ && i < falling.size(); ++i) {
          falling[i] = falling[i - 1] - softplus(falling[i]);
        }
        use(member, begin + row, falling.data());
      }
    }
  }
}

std::vector<float> Network::evaluate(const std::vector<float>& features) const {
  const std::size_t width = outputs();
  const std::size_t rows = features.size() / inputs();
  std::vector<float> results(rows * width, 0);
  for_each_member_output(features, [&](std::size_t, std::size_t row, const float* y) {
    for (std::size_t i = 0; i < width; ++i) results[row * width + i] += y[i];
  });
  const auto count = static_cast<float>(members_.size());
  for (std::size_t row = 0; row < rows; ++row) {
    float* outputs = results.data() + row * width;
    for (std::size_t i = 0; i < width; ++i) outputs[i] /= count;
    finish(features.data() + row * inputs(), outputs);
  }
  return results;
}

std::vector<float> Network::evaluate_members(const std::vector<float>& features) const {
  const std::size_t width = outputs();
  const std::size_t rows = features.size() / inputs();
  std::vector<float> results(members_.size() * rows * width);
  for_each_member_output(features, [&](std::size_t member, std::size_t row, const float* y) {
    float* outputs = results.data() + (member * rows + row) * width;
    std::copy(y, y + width, outputs);
    finish(features.data() + row * inputs(), outputs);
  });
  return results;
}

}  // namespace pw
