#include "pw/roofline.h"

#include <algorithm>
#include <cmath>

namespace pw {

// The bounds of the ratio features, which hold the two times as logarithms.
Roofline roofline(const OperatorConfig& config, const HardwareSpec& hardware) {
  HardwareSpec nominal = hardware;
  nominal.sustained_tensor_fraction = 1;
  nominal.sustained_dram_fraction = 1;
  const RatioFeatures ratios = operator_ratios(config, nominal);
  const RatioNames& names = *operator_family(config).ratio_names;
  const auto time_us = [&](std::string_view name, double otherwise) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end()
               ? otherwise
               : ratios.bound_us *
                     std::exp(ratios.values[static_cast<std::size_t>(found - names.begin())]);
  };
  return {time_us("l_tc", 0), time_us("l_dr", ratios.bound_us)};
}

}  // namespace pw
