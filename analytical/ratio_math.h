#pragma once

#include <algorithm>
#include <cmath>

#include "pw/fields.h"
#include "pw/hardware_spec.h"

namespace pw {

// ln(us / bound_us), with a floor so that a limit of zero stays finite.
class LnToBound {
 public:
  explicit LnToBound(double bound_us) : bound_us_(bound_us) {}
  double operator()(double us) const { return std::log(std::max(us / bound_us_, 1e-12)); }

 private:
  double bound_us_;
};

inline double l2_bytes(const HardwareSpec& hardware) {
  if (hardware.l2_cache_kib <= 0) {
    throw DataError("hardware '" + hardware.stem +
                    "' has no l2CacheSize, which log_ratio models need");
  }
  return hardware.l2_cache_kib * 1024;
}

// ln(bytes / L2 size), clipped: where the operands are likely to be when the kernel starts.
inline double ln_to_l2(double bytes, const HardwareSpec& hardware, double low, double high) {
  return std::clamp(std::log(bytes / l2_bytes(hardware)), low, high);
}

}  // namespace pw
