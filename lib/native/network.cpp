#include "native/network.h"

#include <algorithm>
#include <cmath>

namespace pw {
namespace {

constexpr std::size_t kRowsAtOnce = 192;  // of both buffers, about what the L2 cache holds

// As torch.softplus: a line from 20 on.
float softplus(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// Written so that a NaN stays one.
float clipped(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }

}  // namespace

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
