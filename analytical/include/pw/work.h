#pragma once

#include "pw/attention.h"
#include "pw/gemm.h"
#include "pw/hardware_spec.h"
#include "pw/moe.h"
#include "pw/ratios.h"
#include "pw/rmsnorm.h"
#include "pw/silu_mul.h"

namespace pw {

enum class Element { bf16, fp8, fp4 };

// What a problem needs on every GPU: the arithmetic of its result, without padding, and the bytes
// of every operand and result once.
struct Work {
  double operations = 0;  // of the tensor pipe, a multiply-add is 2; 0 without tensor work
  double bytes = 0;
  Element element = Element::bf16;  // of the operands
};

// One overload per family; operator_work() (pw/operators.h) for any. Throws DataError for a GEMM,
// attention batch or MoE pass that has no meaning, std::overflow_error beyond int64.
Work work(const GemmConfig&);
Work work(const Fp8GemmConfig&);
Work work(const AttentionConfig&);
// `sums`: of this problem.
Work work(const AttentionConfig&, const AttentionSums& sums);
Work work(const RmsNormConfig&);
Work work(const SiluMulConfig&);
// The routed rows alone, and the weights of the experts that get any row.
Work work(const MoeConfig&);

// Nominal rates of the whole GPU. The first throws DataError for fp8 on a GPU without tcFp8 and fp4
// on one without tcFp4.
double tensor_ops_per_cycle_sm(const HardwareSpec& hardware, Element element);
double tensor_ops_per_us(const HardwareSpec& hardware, Element element);
double dram_bytes_per_us(const HardwareSpec& hardware);  // of memBandwidth in 1e9 bytes/s

}  // namespace pw
