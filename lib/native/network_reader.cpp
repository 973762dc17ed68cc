// How a module becomes a Network.

#include <algorithm>
#include <cmath>

#include "native/network.h"

namespace pw {
namespace {

// What members of an ensemble are given.
constexpr char kStandardised[] =
    "torch.div(torch.sub(torch.minimum(torch.maximum(features, self.low), self.high), self.mean), "
    "self.std)";

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
  const double main = number_of(*chosen, "$main");
  require(main >= 0);
  main_output_ = static_cast<std::size_t>(main);
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

}  // namespace pw
