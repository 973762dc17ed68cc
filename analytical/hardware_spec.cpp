#include "pw/hardware_spec.h"

#include <cmath>

#include "pw/fields.h"

namespace pw {

std::string_view to_string(Architecture architecture) {
  switch (architecture) {
    case Architecture::ampere:
      return "ampere";
    case Architecture::ada:
      return "ada";
    case Architecture::hopper:
      return "hopper";
    case Architecture::blackwell:
      return "blackwell";
  }
  return "";
}

std::string_view to_string(GemmRules rules) { return rules == GemmRules::sm90 ? "sm90" : "sm80"; }

std::string_view to_string(Interconnect interconnect) {
  return interconnect == Interconnect::nvlink ? "nvlink" : "pcie";
}

SustainedFractions sustained_fractions(const HardwareSpec& hardware) {
  // Two power classes. A card whose tensor rate is capped to about half of its chip's or less
  // sustains nearly all of the rest, where its relatives are held back by their power limit. Rates
  // from MoE rows beside a relative count where a class has no other.
  const auto is_capped = [&](double chip_ops_per_cycle_sm) {
    constexpr double kCapped = 0.6;  // L20 .504, L40 .5, H20 .25
    return hardware.tensor_bf16_ops_per_cycle_sm <= kCapped * chip_ops_per_cycle_sm;
  };
  SustainedFractions fractions;
  switch (hardware.architecture) {
    case Architecture::ampere:  // A100 .797 .759, A40 .761 .792
      fractions = {0.78, 0.78, false};
      break;
    case Architecture::ada:  // L40S .532 .830; capped: L20 .889 .807, L40 .803 .838
      fractions = is_capped(1024) ? SustainedFractions{0.85, 0.82, false}
                                  : SustainedFractions{0.53, 0.83, false};
      break;
    case Architecture::hopper:  // H100 .728 .847, H200 .673 .792; capped: H20 .951 .822
      fractions = is_capped(4096) ? SustainedFractions{0.95, 0.82, false}
                                  : SustainedFractions{0.70, 0.82, false};
      break;
    case Architecture::blackwell:  // B200 .652 .820, RTX PRO 6000 S .882 .828
      fractions = {0.77, 0.82, false};
      break;
  }
  fractions.is_default = !hardware.sustained_tensor_fraction || !hardware.sustained_dram_fraction;
  fractions.tensor = hardware.sustained_tensor_fraction.value_or(fractions.tensor);
  fractions.dram = hardware.sustained_dram_fraction.value_or(fractions.dram);
  return fractions;
}

void check(const HardwareSpec& hardware) {
  struct Rate {
    const char* key;
    double value;
  };
  const Rate rates[] = {
      {"numSms", static_cast<double>(hardware.num_sms)},
      {"smFreq", hardware.sm_freq_mhz},
      {"tcBf16", hardware.tensor_bf16_ops_per_cycle_sm},
      {"xuFp32", hardware.xu_ops_per_cycle_sm},
      {"FmaFp32", hardware.fma_ops_per_cycle_sm},
      {"memBandwidth", hardware.memory_bandwidth},
      {"l2CacheBandwidth", hardware.l2_bandwidth},
      {"sharedMemoryBandwidth", hardware.shared_bytes_per_cycle_sm},
  };
  for (const Rate& rate : rates) {
    if (!std::isfinite(rate.value) || rate.value <= 0) {
      throw DataError("hardware '" + hardware.stem + "': " + rate.key + " is " +
                      std::to_string(rate.value) + ", expected a positive number");
    }
  }
}

}  // namespace pw
