#pragma once

#include "pw/hardware_spec.h"

namespace pw {

// An Ampere card with the A100's numbers (public data sheet), for tests without files.
inline HardwareSpec test_ampere() {
  HardwareSpec hardware;
  hardware.stem = "A100";
  hardware.name = "NVIDIA A100-SXM4-80GB";
  hardware.architecture = Architecture::ampere;
  hardware.gemm_rules = GemmRules::sm80;
  hardware.num_sms = 108;
  hardware.sm_freq_mhz = 1410;
  hardware.tensor_bf16_ops_per_cycle_sm = 2048;
  hardware.xu_ops_per_cycle_sm = 16;
  hardware.fma_ops_per_cycle_sm = 64;
  hardware.memory_bandwidth = 2039.04;
  hardware.l2_bandwidth = 3235;
  hardware.shared_bytes_per_cycle_sm = 128;
  hardware.shared_memory_kib = 164;
  hardware.l2_cache_kib = 40960;
  hardware.global_memory_bytes = 84987740160;
  return hardware;
}

// A Hopper card with the H800's numbers.
inline HardwareSpec test_hopper() {
  HardwareSpec hardware = test_ampere();
  hardware.stem = "H800";
  hardware.name = "NVIDIA H800";
  hardware.architecture = Architecture::hopper;
  hardware.gemm_rules = GemmRules::sm90;
  hardware.num_sms = 132;
  hardware.sm_freq_mhz = 1830;
  hardware.tensor_bf16_ops_per_cycle_sm = 4096;
  hardware.tensor_fp8_ops_per_cycle_sm = 8192;
  hardware.fma_ops_per_cycle_sm = 128;
  hardware.memory_bandwidth = 3352.32;
  hardware.l2_bandwidth = 8820;
  hardware.shared_memory_kib = 228;
  hardware.l2_cache_kib = 51200;
  hardware.global_memory_bytes = 84929216512;
  return hardware;
}

}  // namespace pw
