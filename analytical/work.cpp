#include "pw/work.h"

#include <algorithm>

#include "matrix_work.h"
#include "moe_grid.h"
#include "pw/fields.h"

namespace pw {
namespace {

constexpr double kBf16Bytes = 2;
constexpr double kFp8Bytes = 1;

Work matrix_work(std::int64_t rows, std::int64_t columns, std::int64_t inner, double element_bytes,
                 Element element) {
  if (std::min({rows, columns, inner}) < 1) {
    throw DataError("M, N and K of a GEMM must be at least 1");
  }
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  const auto k = static_cast<double>(inner);
  return {matrix_operations(m, n, k), matrix_bytes(m, n, k, element_bytes), element};
}

// Kernels without tensor work that pass `passes` times over seq x dim.
Work row_work(double passes, std::int64_t seq, std::int64_t dim) {
  return {0, passes * kBf16Bytes * static_cast<double>(seq) * static_cast<double>(dim),
          Element::bf16};
}

}  // namespace

Work work(const GemmConfig& c) { return matrix_work(c.m, c.n, c.k, kBf16Bytes, Element::bf16); }

Work work(const Fp8GemmConfig& c) { return matrix_work(c.m, c.n, c.k, kFp8Bytes, Element::fp8); }

Work work(const AttentionConfig& c) { return work(c, sum_requests(c)); }

Work work(const AttentionConfig& c, const AttentionSums& sums) {
  const auto heads = static_cast<double>(c.query_heads);
  const auto kv_heads = static_cast<double>(c.kv_heads);
  const auto head_dim = static_cast<double>(c.head_dim);
  return {4 * sums.pairs * heads * head_dim,
          2 * kBf16Bytes * head_dim * (heads * sums.queries + kv_heads * sums.kv), Element::bf16};
}

Work work(const RmsNormConfig& c) {
  constexpr double kPasses = 4;  // input and residual, read and written
  return row_work(kPasses, c.seq, c.dim);
}

Work work(const SiluMulConfig& c) {
  const double passes = c.gated ? 1.5 : 2;  // the input row read, half or all of it written
  return row_work(passes, c.seq, c.dim);
}

Work work(const MoeConfig& c) {
  const MoeMatrix matrix = moe_matrix(c);
  const auto out = static_cast<double>(matrix.out);
  const auto depth = static_cast<double>(matrix.depth);
  const double rows = static_cast<double>(c.rows) * static_cast<double>(c.top_k);
  return {matrix_operations(rows, out, depth),
          moe_weight_bytes(c) + kBf16Bytes * (rows * depth + rows * out), Element::bf16};
}

double tensor_ops_per_cycle_sm(const HardwareSpec& hardware, Element element) {
  if (element == Element::bf16) return hardware.tensor_bf16_ops_per_cycle_sm;
  if (element == Element::fp4) {
    if (hardware.tensor_fp4_ops_per_cycle_sm > 0) return hardware.tensor_fp4_ops_per_cycle_sm;
    throw DataError("hardware '" + hardware.stem +
                    "' has no tcFp4: fp4 products cannot be predicted for it");
  }
  if (hardware.tensor_fp8_ops_per_cycle_sm > 0) return hardware.tensor_fp8_ops_per_cycle_sm;
  throw DataError("hardware '" + hardware.stem +
                  "' has no tcFp8: fp8 GEMMs cannot be predicted for it");
}

double tensor_ops_per_us(const HardwareSpec& hardware, Element element) {
  return tensor_ops_per_cycle_sm(hardware, element) * static_cast<double>(hardware.num_sms) *
         hardware.sm_freq_mhz;
}

double dram_bytes_per_us(const HardwareSpec& hardware) { return hardware.memory_bandwidth * 1e3; }

}  // namespace pw
