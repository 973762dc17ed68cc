#include "pw/moe.h"

#include <algorithm>

#include "moe_grid.h"
#include "pipes.h"
#include "pw/int_math.h"
#include "pw/operators.h"

namespace pw {
namespace {

constexpr std::int64_t kBf16Bytes = 2;

struct Block {
  std::int64_t m, n;
};

// The Triton kernel's block sizes, by shared memory per SM (KiB): up to 100, up to 164, more.
Block block_sizes(const MoeConfig& moe, double shared_memory_kib) {
  const bool small = shared_memory_kib <= 100;
  const bool medium = !small && shared_memory_kib <= 164;
  Block block{16, 128};
  if (moe.rows > 2048) {
    block.m = small ? (moe.experts < 64 ? 64 : 128) : (medium ? 64 : 128);
  } else if (moe.rows > 512) {
    block.m = medium ? 64 : 128;
  } else if (moe.rows > 256) {
    block.m = 64;
  } else if (moe.rows > 128) {
    block.m = 32;
  }
  if (small) {
    block.n = moe.hidden <= 1536 && moe.rows <= 128 ? 16 : 64;
  }
  return block;
}

// Rows after each expert's share of the round-robin assignments is padded to whole blocks.
std::int64_t padded_rows(const MoeConfig& moe, std::int64_t block_m) {
  const std::int64_t assignments = checked_mul(moe.rows, moe.top_k);
  const std::int64_t quotient = assignments / moe.experts;
  const std::int64_t fuller = assignments % moe.experts;
  return checked_mul(block_m,
                     checked_add(checked_mul(fuller, ceil_div(quotient + 1, block_m)),
                                 checked_mul(moe.experts - fuller, ceil_div(quotient, block_m))));
}

}  // namespace

MoeConfig MoeConfig::read(const Fields& fields) {
  MoeConfig moe;
  const std::string pass = fields.text("weight_type");
  if (pass != "w13" && pass != "w2") {
    throw DataError(fields.where("weight_type") + " is \"" + pass + "\", expected w13 or w2");
  }
  moe.pass = pass == "w13" ? Pass::w13 : Pass::w2;
  read_numbers(fields, moe);
  return moe;
}

std::vector<std::string> MoeConfig::cells() const {
  std::vector<std::string> all{pass_name()};
  for (const Number<MoeConfig>& number : kNumbers) {
    all.push_back(std::to_string(this->*number.value));
  }
  return all;
}

MoeMatrix moe_matrix(const MoeConfig& moe) {
  if (moe.rows < 0 || moe.experts < 1 || moe.top_k < 1 || moe.hidden < 1 || moe.intermediate < 1) {
    throw DataError("a MoE pass needs M >= 0 and E, topk, H, N >= 1");
  }
  if (moe.pass == MoeConfig::Pass::w2) return {moe.hidden, moe.intermediate};
  return {checked_mul(2, moe.intermediate), moe.hidden};
}

double moe_weight_bytes(const MoeConfig& moe) {
  const MoeMatrix matrix = moe_matrix(moe);
  const double rows = static_cast<double>(moe.rows) * static_cast<double>(moe.top_k);
  return kBf16Bytes * std::min(static_cast<double>(moe.experts), rows) *
         static_cast<double>(matrix.out) * static_cast<double>(matrix.depth);
}

MoeGrid moe_grid(const MoeConfig& moe, const HardwareSpec& hardware) {
  if (hardware.shared_memory_kib <= 0) {
    throw DataError("hardware '" + hardware.stem +
                    "' has no sharedMemorySize, which the MoE kernel needs");
  }
  const MoeMatrix matrix = moe_matrix(moe);
  const Block block = block_sizes(moe, hardware.shared_memory_kib);
  MoeGrid grid;
  grid.out = matrix.out;
  grid.depth = matrix.depth;
  grid.block_m = block.m;
  grid.block_n = block.n;
  grid.padded_rows = padded_rows(moe, block.m);
  grid.ctas = checked_mul(grid.padded_rows / block.m, ceil_div(grid.out, block.n));
  return grid;
}

PipelineFeatures analyze(const MoeConfig& moe, const HardwareSpec& hardware,
                         const AnalysisOptions&) {
  const MoeGrid grid = moe_grid(moe, hardware);
  const std::int64_t ctas_sm_max = ceil_div(grid.ctas, hardware.num_sms);
  const auto all_ops = static_cast<double>(checked_mul(2, grid.padded_rows, grid.out, grid.depth));
  const double sm_max_ops =
      grid.ctas == 0 ? 0
                     : all_ops / static_cast<double>(grid.ctas) * static_cast<double>(ctas_sm_max);
  const std::int64_t cta_bytes = checked_mul(grid.block_m + grid.block_n, grid.depth, kBf16Bytes);
  PipelineFeatures features;
  features.tensor =
      compute_pipe(all_ops, sm_max_ops, hardware.tensor_bf16_ops_per_cycle_sm, hardware);
  features.memory = memory_pipe(static_cast<double>(checked_mul(cta_bytes, grid.ctas)),
                                static_cast<double>(checked_mul(cta_bytes, ctas_sm_max)), hardware);
  return features;
}

}  // namespace pw
