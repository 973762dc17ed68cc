#include "native/dense_layer.h"

#include <algorithm>
#include <cstring>

// Vectors are GCC's and Clang's vector extension: one template serves every instruction set, and
// each instantiation below is compiled for its own.

#define PW_INLINE inline __attribute__((always_inline))

namespace pw {

constexpr std::size_t kVectorsPerPanel = 2;

// The operands of one layer's products, in floats.
struct DenseProduct {
  const float* x;
  std::size_t x_stride;
  const float* weights;
  std::size_t weight_stride;  // narrow layers alone
  const float* bias;
  std::size_t inputs;
  std::size_t outputs;
  bool relu;
  float* y;
  std::size_t y_stride;
};

struct DenseKernel {
  std::size_t width;
  void (*wide)(const DenseProduct&, std::size_t rows);    // panels of weights
  void (*narrow)(const DenseProduct&, std::size_t rows);  // rows of weights

  std::size_t panel() const { return width * kVectorsPerPanel; }  // outputs
};

namespace {

// Layers with few outputs are dot products; their last panel would be mostly zeros.
constexpr std::size_t kNarrowest = 8;

template <std::size_t kWidth>
struct Simd {
  typedef float Vector __attribute__((vector_size(kWidth * sizeof(float))));
};

// `kRows` rows times `kPanels` panels beside each other.
template <std::size_t kWidth, std::size_t kRows, std::size_t kPanels>
PW_INLINE void multiply_tile(const DenseProduct& p, std::size_t row, std::size_t panel) {
  using Vector = typename Simd<kWidth>::Vector;
  constexpr std::size_t kVectors = kVectorsPerPanel * kPanels;
  constexpr std::size_t kPanelFloats = kWidth * kVectorsPerPanel;
  const float* x = p.x + row * p.x_stride;
  const float* weights = p.weights + panel * kPanelFloats * p.inputs;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    std::memcpy(&sum[0][v], p.bias + panel * kPanelFloats + v * kWidth, sizeof(Vector));
#pragma GCC unroll 16
    for (std::size_t r = 1; r < kRows; ++r) sum[r][v] = sum[0][v];
  }
  for (std::size_t k = 0; k < p.inputs; ++k) {
    Vector w[kVectors];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t in_panel = k * kPanelFloats + (v % kVectorsPerPanel) * kWidth;
      const std::size_t before = (v / kVectorsPerPanel) * kPanelFloats * p.inputs;
      std::memcpy(&w[v], weights + before + in_panel, sizeof(Vector));
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] += x[r * p.x_stride + k] * w[v];
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      // Written so that a NaN stays one.
      if (p.relu) sum[r][v] = sum[r][v] < 0 ? Vector{} : sum[r][v];
      float* y = p.y + (row + r) * p.y_stride + panel * kPanelFloats + v * kWidth;
      std::memcpy(y, &sum[r][v], sizeof(Vector));
    }
  }
}

// Tiles of `kRows` rows from `first` on, as many as fit; returns the row behind them.
template <std::size_t kWidth, std::size_t kRows>
PW_INLINE std::size_t multiply_tiles(const DenseProduct& p, std::size_t first, std::size_t rows) {
  constexpr std::size_t kPanelFloats = kWidth * kVectorsPerPanel;
  const std::size_t panels = (p.outputs + kPanelFloats - 1) / kPanelFloats;
  const std::size_t end = first + (rows - first) / kRows * kRows;
  for (std::size_t panel = 0; panel < panels;) {
    // Single rows take two panels at once, for the sake of independent sums.
    const bool two = kRows == 1 && panel + 2 <= panels;
    for (std::size_t row = first; row < end; row += kRows) {
      if (two) {
        multiply_tile<kWidth, kRows, kRows == 1 ? 2 : 1>(p, row, panel);
      } else {
        multiply_tile<kWidth, kRows, 1>(p, row, panel);
      }
    }
    panel += two ? 2 : 1;
  }
  return end;
}

template <std::size_t kWidth, std::size_t kRows>
PW_INLINE void multiply_wide(const DenseProduct& p, std::size_t rows) {
  std::size_t row = multiply_tiles<kWidth, kRows>(p, 0, rows);
  row = multiply_tiles<kWidth, 4>(p, row, rows);
  multiply_tiles<kWidth, 1>(p, row, rows);
}

// Dot products.
template <std::size_t kWidth>
PW_INLINE void multiply_narrow(const DenseProduct& p, std::size_t rows) {
  using Vector = typename Simd<kWidth>::Vector;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t output = 0; output < p.outputs; ++output) {
      const float* x = p.x + row * p.x_stride;
      const float* weights = p.weights + output * p.weight_stride;
      Vector sum = {};
      std::size_t k = 0;
      for (; k + kWidth <= p.inputs; k += kWidth) {
        Vector a, b;
        std::memcpy(&a, x + k, sizeof(Vector));
        std::memcpy(&b, weights + k, sizeof(Vector));
        sum += a * b;
      }
      float total = p.bias[output];
      for (std::size_t i = 0; i < kWidth; ++i) total += sum[i];
      for (; k < p.inputs; ++k) total += x[k] * weights[k];
      p.y[row * p.y_stride + output] = p.relu && total < 0 ? 0 : total;
    }
  }
}

// Rows per tile: as many sums as the registers hold beside the weights.
void wide_4(const DenseProduct& p, std::size_t rows) { multiply_wide<4, 6>(p, rows); }
void narrow_4(const DenseProduct& p, std::size_t rows) { multiply_narrow<4>(p, rows); }

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) void wide_8(const DenseProduct& p, std::size_t rows) {
  multiply_wide<8, 6>(p, rows);
}
__attribute__((target("avx2,fma"))) void narrow_8(const DenseProduct& p, std::size_t rows) {
  multiply_narrow<8>(p, rows);
}
__attribute__((target("avx512f,fma"))) void wide_16(const DenseProduct& p, std::size_t rows) {
  multiply_wide<16, 12>(p, rows);
}
__attribute__((target("avx512f,fma"))) void narrow_16(const DenseProduct& p, std::size_t rows) {
  multiply_narrow<16>(p, rows);
}
#endif

const std::vector<DenseKernel>& kernels() {
  static const std::vector<DenseKernel> kernels = [] {
    std::vector<DenseKernel> found;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) found.push_back({16, wide_16, narrow_16});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      found.push_back({8, wide_8, narrow_8});
    }
#endif
    found.push_back({4, wide_4, narrow_4});
    return found;
  }();
  return kernels;
}

}  // namespace

const std::vector<std::size_t>& DenseLayer::vector_widths() {
  static const std::vector<std::size_t> widths = [] {
    std::vector<std::size_t> found;
    for (const DenseKernel& kernel : kernels()) found.push_back(kernel.width);
    return found;
  }();
  return widths;
}

bool DenseLayer::is_narrow() const { return outputs_ < kNarrowest; }

DenseLayer::DenseLayer(std::size_t outputs, std::size_t inputs, const std::vector<float>& weights,
                       const std::vector<float>& bias, bool relu, std::size_t vector_width)
    : kernel_(&*std::find_if(kernels().begin(), kernels().end(),
                             [&](const DenseKernel& k) { return k.width == vector_width; })),
      outputs_(outputs),
      inputs_(inputs),
      relu_(relu),
      weights_(is_narrow() ? PaddedRows(outputs, inputs)
                           : PaddedRows(1, inputs * PaddedRows::padded(outputs))),
      bias_(1, outputs) {
  std::copy(bias.begin(), bias.end(), bias_.row(0));
  const std::size_t panel = kernel_->panel();
  for (std::size_t output = 0; output < outputs; ++output) {
    const float* row = weights.data() + output * inputs;
    if (is_narrow()) {
      std::copy(row, row + inputs, weights_.row(output));
      continue;
    }
    float* column = weights_.row(0) + output / panel * panel * inputs + output % panel;
    for (std::size_t k = 0; k < inputs; ++k) column[k * panel] = row[k];
  }
}

void DenseLayer::forward(const PaddedRows& x, std::size_t rows, PaddedRows& y) const {
  const DenseProduct product{x.row(0), x.stride(), weights_.row(0), weights_.stride(), bias_.row(0),
                             inputs_,  outputs_,   relu_,           y.row(0),          y.stride()};
  (is_narrow() ? kernel_->narrow : kernel_->wide)(product, rows);
}

}  // namespace pw
