#include "pw/operand_copies.h"

#include <algorithm>

namespace pw {

double cached_share(const ReusedOperand& operand, double copies) {
  // Measured where DRAM is slow: rows of an L40S and an RTX PRO 6000 are cached up to 0.9 of L2 and
  // read from DRAM from 1.1 on.
  constexpr double kAllFit = 0.9, kNoneStays = 1.1;
  if (copies >= kColdCopies || operand.l2_bytes <= 0) return 0;
  const double fill = copies * operand.set_bytes / operand.l2_bytes;
  return std::clamp((kNoneStays - fill) / (kNoneStays - kAllFit), 0.0, 1.0);
}

double with_copies(double duration_us, const ReusedOperand& operand, double measured_copies,
                   double copies) {
  const double gone = cached_share(operand, measured_copies) - cached_share(operand, copies);
  return duration_us + std::max(0.0, gone) * std::max(0.0, operand.cold_us - duration_us);
}

}  // namespace pw
