#pragma once

namespace pw {

// Where the weights of a GEMM or the context of an attention come from. A benchmark that runs one
// problem again and again finds them in L2 if they fit; a model reads gigabytes of other weights
// between two calls and never does. `copies` counts the sets of operands that are used in turn.
// Derivation and data: docs/method.md, "Cold operands".
constexpr double kColdCopies = 1000;  // of this many the next one is surely not in L2

// Whether it can be a count of copies: 1 to 1e6, which is what messages expect.
inline bool is_copy_count(double copies) { return copies >= 1 && copies <= 1e6; }

struct ReusedOperand {
  double set_bytes = 0;  // all operands of one call
  double l2_bytes = 0;   // size of the cache
  double cold_us = 0;    // the least that a call takes with its weights or context in DRAM
};

// Share of a set that is still in L2 when its turn comes: all as long as the sets fit, none once
// they do not, because the oldest lines go first. 0 to 1, falls with `copies`.
double cached_share(const ReusedOperand& operand, double copies);

// The duration with `copies` sets of a kernel that takes `duration_us` with `measured_copies`: as
// far as its operand came from L2 then and does not now, at least `cold_us`. Never below
// `duration_us`: what fewer copies would gain, no data tell.
double with_copies(double duration_us, const ReusedOperand& operand, double measured_copies,
                   double copies);

}  // namespace pw
