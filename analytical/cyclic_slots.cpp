#include "cyclic_slots.h"

#include "pw/int_math.h"

namespace pw {

CyclicSlots::CyclicSlots(std::int64_t slots) : steps_(static_cast<std::size_t>(slots)) {}

void CyclicSlots::add(std::int64_t first, std::int64_t iterations, std::int64_t count,
                      std::int64_t times) {
  if (iterations == 0) {
    return;
  }
  total_iterations_ = checked_add(total_iterations_, checked_mul(iterations, count, times));
  const auto step = [&](std::int64_t slot, std::int64_t runs) {
    SmLoad& at = steps_[static_cast<std::size_t>(slot)];
    at.tasks += runs;
    at.iterations += runs * iterations;
  };
  const auto slots = static_cast<std::int64_t>(steps_.size());
  if (count >= slots) {
    step(0, count / slots * times);
    count %= slots;
  }
  step(first, times);
  const std::int64_t end = first + count;
  if (end < slots) {
    step(end, -times);
  } else {
    step(0, times);
    step(end - slots, -times);
  }
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
