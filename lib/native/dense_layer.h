#pragma once

#include <cstddef>
#include <vector>

namespace pw {

// Rows of floats with room behind each, so that vectors of any width that a kernel uses fit.
class PaddedRows {
 public:
  PaddedRows(std::size_t rows, std::size_t columns)
      : stride_(padded(columns)), values_(rows * stride_ / kFloats) {}

  float* row(std::size_t index) {
    return reinterpret_cast<float*>(values_.data()) + index * stride_;
  }
  const float* row(std::size_t index) const {
    return reinterpret_cast<const float*>(values_.data()) + index * stride_;
  }
  std::size_t stride() const { return stride_; }

  // The least multiple of what a row holds that is not below `columns`, and not 0.
  static std::size_t padded(std::size_t columns) {
    return (columns + kFloats - 1) / kFloats * kFloats + (columns == 0 ? kFloats : 0);
  }

 private:
  static constexpr std::size_t kFloats = 32;
  struct alignas(64) Block {
    float floats[kFloats] = {};
  };
  std::size_t stride_;
  std::vector<Block> values_;
};

struct DenseKernel;

// y = x W^T + b, then ReLU or not, in float32. The products of one row are summed in the order of
// its inputs whatever the other rows are: a row's result does not depend on its batch. One thread.
class DenseLayer {
 public:
  // Floats per vector of the kernels that this processor can run, the widest first.
  static const std::vector<std::size_t>& vector_widths();

  // `weights`: outputs x inputs, row-major. `bias`: outputs. `vector_width`: one of those above.
  DenseLayer(std::size_t outputs, std::size_t inputs, const std::vector<float>& weights,
             const std::vector<float>& bias, bool relu,
             std::size_t vector_width = vector_widths().front());

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }

  // Both with at least `rows` rows, x of inputs() columns, y of outputs(). Behind the columns of y
  // anything may be left.
  void forward(const PaddedRows& x, std::size_t rows, PaddedRows& y) const;

 private:
  bool is_narrow() const;

  const DenseKernel* kernel_;
  std::size_t outputs_;
  std::size_t inputs_;
  bool relu_;
  // Narrow layers: row by row. Others: panels of as many outputs as the kernel computes at once,
  // each inputs x outputs of the panel; the last one is filled up with zeros.
  PaddedRows weights_;
  PaddedRows bias_;  // one row
};

}  // namespace pw
