#pragma once

#include <cstdint>

#include "pw/hardware_spec.h"
#include "pw/moe.h"

namespace pw {

// The weights of one expert in this pass. Throws DataError for a problem that has no meaning.
struct MoeMatrix {
  std::int64_t out = 0;    // columns of the result
  std::int64_t depth = 0;  // length of the inner products
};
MoeMatrix moe_matrix(const MoeConfig& moe);

// Bytes of the experts that get any row.
double moe_weight_bytes(const MoeConfig& moe);

// How the fused kernel covers one pass.
struct MoeGrid {
  std::int64_t block_m = 0, block_n = 0;
  std::int64_t out = 0, depth = 0;  // of the MoeMatrix
  std::int64_t padded_rows = 0;     // each expert's rows padded to whole blocks
  std::int64_t ctas = 0;
};

MoeGrid moe_grid(const MoeConfig& moe, const HardwareSpec& hardware);

}  // namespace pw
