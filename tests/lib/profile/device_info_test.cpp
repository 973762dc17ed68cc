#include "pw/device_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/device_query.h"
#include "pw/hardware_catalog.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;

DeviceInfo hopper() {
  DeviceInfo info;
  info.is_gpu = true;
  info.name = "NVIDIA Testcard";
  info.cores = 100;
  info.clock_mhz = 1500;
  info.memory_mhz = 2000;
  info.memory_bus_bits = 4096;
  info.cache_bytes = 50 << 20;
  info.memory_bytes = 1LL << 36;
  info.shared_bytes_per_core = 228 << 10;
  info.register_bytes_per_core = 256 << 10;
  info.compute_major = 9;
  return info;
}

TEST(DeviceInfo, ThisCpuTellsWhatItIs) {
  const DeviceInfo info = cpu_info(1);
  EXPECT_THAT(info.name, HasSubstr("(CPU, 1 thread)"));
  EXPECT_EQ(info.cores, 1);
  EXPECT_GT(info.clock_mhz, 0);
  EXPECT_GT(info.memory_bytes, 1 << 28);
  EXPECT_GT(device_state(info).free_bytes, 0);
}

// 15,960 MHz was measured on a machine of 3 GHz while the chain added constants.
TEST(DeviceInfo, AMeasuredClockFarAboveTheReportedOneIsRefused) {
  EXPECT_EQ(plausible_clock_mhz(3000, 15960), 3000);
  EXPECT_EQ(plausible_clock_mhz(1800, 5200), 5200);  // a mobile processor's boost
  EXPECT_EQ(plausible_clock_mhz(3000, 900), 3000);   // measured on a busy machine
  EXPECT_EQ(plausible_clock_mhz(0, 2800), 2800);     // the system tells no clock
}

TEST(DeviceInfo, WhatTheDriverTellsBecomesAHardwareFile) {
  HardwareSpec spec = nominal_spec(hopper());
  EXPECT_DOUBLE_EQ(spec.memory_bandwidth, 2048);  // 2 x 2 GHz x 512 bytes
  spec.l2_bandwidth = 5000;
  spec.sustained_tensor_fraction = 0.7;
  spec.sustained_dram_fraction = 0.9;
  const TemporaryFolder folder;
  const HardwareSpec read =
      read_hardware(folder.file("Test.json", hardware_json(spec, hopper(), {"a note"})));
  EXPECT_EQ(read.name, "NVIDIA Testcard");
  EXPECT_EQ(read.stem, "Test");
  EXPECT_EQ(read.architecture, Architecture::hopper);
  EXPECT_EQ(read.gemm_rules, GemmRules::sm90);
  EXPECT_EQ(read.num_sms, 100);
  EXPECT_EQ(read.sm_freq_mhz, 1500);
  EXPECT_EQ(read.memory_bandwidth, 2048);
  EXPECT_EQ(read.tensor_bf16_ops_per_cycle_sm, 4096);
  EXPECT_EQ(read.l2_cache_kib, 51200);
  EXPECT_EQ(read.shared_memory_kib, 228);
  EXPECT_EQ(read.global_memory_bytes, 1LL << 36);
  EXPECT_EQ(read.sustained_tensor_fraction, 0.7);
  EXPECT_EQ(read.sustained_dram_fraction, 0.9);
}

TEST(DeviceInfo, AnUnknownComputeCapabilityIsAnError) {
  DeviceInfo info = hopper();
  info.compute_major = 7;
  EXPECT_THAT(error_of([&] { nominal_spec(info); }), HasSubstr("compute capability 7.0"));
}

// A CPU runs 4 bytes per element where features count 2.
TEST(DeviceInfo, SizesOfACpuAreHalved) {
  DeviceInfo info;
  info.name = "A CPU";
  info.cores = 2;
  info.clock_mhz = 3000;
  info.cache_bytes = 32 << 20;
  info.memory_bytes = 1LL << 34;
  info.ops_per_cycle_core = 64;
  const HardwareSpec spec = nominal_spec(info);
  EXPECT_EQ(spec.l2_cache_kib, 16 << 10);
  EXPECT_EQ(spec.global_memory_bytes, 1LL << 33);
  EXPECT_EQ(spec.tensor_bf16_ops_per_cycle_sm, 64);
  EXPECT_EQ(spec.num_sms, 2);
}

}  // namespace
}  // namespace pw
