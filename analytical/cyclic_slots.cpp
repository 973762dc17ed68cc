#include "cyclic_slots.h"

#include "pw/int_math.h"

namespace pw {

CyclicSlots::CyclicSlots(std::int64_t slots) : steps_(static_cast<std::size_t>(slots)) {}

std::int64_t CyclicSlots::add(std::int64_t first, std::int64_t iterations, std::int64_t count,
                              std::int64_t times) {
  const auto slots = static_cast<std::int64_t>(steps_.size());
  const std::int64_t rounds = count < slots ? 0 : count / slots;
  const std::int64_t end = first + count - rounds * slots;
  const std::int64_t behind = end < slots ? end : end - slots;
  if (iterations > 0) {
    total_iterations_ = checked_add(total_iterations_, checked_mul(iterations, count, times));
    const auto step = [&](std::int64_t slot, std::int64_t runs) {
      SmLoad& at = steps_[static_cast<std::size_t>(slot)];
      at.tasks += runs;
      at.iterations += runs * iterations;
    };
    step(first, times);
    step(behind, -times);
    const std::int64_t everywhere = (rounds + (end < slots ? 0 : 1)) * times;
    if (everywhere > 0) {
      step(0, everywhere);
    }
  }
  return behind;
}

std::vector<SmLoad> CyclicSlots::loads() const {
  std::vector<SmLoad> loads = steps_;
  for (std::size_t slot = 1; slot < loads.size(); ++slot) {
    loads[slot].tasks += loads[slot - 1].tasks;
    loads[slot].iterations += loads[slot - 1].iterations;
  }
  return loads;
}

}  // namespace pw
