#include "pw/calibration.h"

#include <gtest/gtest.h>

#include "pw/gemm.h"
#include "pw/moe.h"
#include "pw/roofline.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

// A GEMM that reaches `tensor` of the tensor rate or `dram` of the bandwidth, whichever is slower.
GemmMeasurement measured(std::int64_t m, std::int64_t n, std::int64_t k, double tensor,
                         double dram) {
  const GemmConfig gemm{m, n, k};
  const Roofline limits = roofline(gemm, test_ampere());
  return {gemm, std::max(limits.compute_us / tensor, limits.dram_us / dram)};
}

TEST(SustainedRates, AreMediansOverTheRowsThatShowThem) {
  const std::vector<GemmMeasurement> rows = {
      measured(8192, 8192, 4096, 0.70, 1),  measured(8192, 4096, 8192, 0.72, 1),
      measured(16384, 8192, 8192, 0.9, 1),  measured(8, 16384, 16384, 1, 0.80),
      measured(1, 28672, 8192, 1, 0.84),    measured(32, 16384, 16384, 1, 0.88),
      measured(256, 1024, 1024, 0.01, 0.01)};
  const auto tensor = sustained_tensor_rate(rows, test_ampere());
  const auto dram = sustained_dram_rate(rows, test_ampere());
  ASSERT_TRUE(tensor && dram);
  EXPECT_NEAR(tensor->fraction, 0.72, 1e-9);
  EXPECT_EQ(tensor->rows, 3);
  EXPECT_TRUE(tensor->large_rows);
  EXPECT_NEAR(dram->fraction, 0.84, 1e-9);
  EXPECT_EQ(dram->rows, 3);
}

TEST(SustainedRates, AHandfulOfSmallerRowsWillDo) {
  const std::vector<GemmMeasurement> rows = {measured(4096, 4096, 4096, 0.6, 1),
                                             measured(4, 14336, 8192, 1, 0.75)};
  const auto tensor = sustained_tensor_rate(rows, test_ampere());
  const auto dram = sustained_dram_rate(rows, test_ampere());
  ASSERT_TRUE(tensor && dram);
  EXPECT_NEAR(tensor->fraction, 0.6, 1e-9);
  EXPECT_FALSE(tensor->large_rows);
  EXPECT_NEAR(dram->fraction, 0.75, 1e-9);
  EXPECT_FALSE(dram->large_rows);
}

TEST(SustainedRates, AreAbsentWithoutRowsThatShowThem) {
  const std::vector<GemmMeasurement> rows = {measured(256, 1024, 1024, 0.5, 0.5)};
  EXPECT_FALSE(sustained_tensor_rate(rows, test_ampere()).has_value());
  EXPECT_FALSE(sustained_dram_rate(rows, test_ampere()).has_value());
}

// A fused MoE kernel that reaches these fractions on a GPU.
GpuMeasurements::Row moe_run(std::int64_t tokens, const HardwareSpec& hardware, double tensor,
                             double dram) {
  MoeConfig moe;
  moe.rows = tokens;
  moe.experts = 8;
  moe.top_k = 2;
  moe.hidden = 4096;
  moe.intermediate = 14336;
  const Roofline limits = roofline(moe, hardware);
  return {moe, std::max(limits.compute_us / tensor, limits.dram_us / dram)};
}

TEST(RelativeRates, CompareTheProblemsThatBothRan) {
  const HardwareSpec here = test_ampere();
  HardwareSpec there = here;
  there.sm_freq_mhz *= 0.8;
  const GpuMeasurements gpu{
      &here,
      {moe_run(8192, here, 0.55, 1), moe_run(16384, here, 0.66, 1), moe_run(32768, here, 0.60, 1),
       moe_run(16, here, 1, 0.90), moe_run(24, here, 1, 0.90), moe_run(40000, here, 0.1, 0.1)}};
  const GpuMeasurements reference{
      &there,
      {moe_run(32768, there, 0.40, 1), moe_run(32768, there, 0.50, 1),
       moe_run(32768, there, 0.60, 1), moe_run(8192, there, 0.50, 1),
       moe_run(16384, there, 0.50, 1), moe_run(16, there, 1, 0.75), moe_run(9000, there, 0.1, 1)}};
  const auto tensor = relative_tensor_rate(gpu, reference);
  const auto dram = relative_dram_rate(gpu, reference);
  ASSERT_TRUE(tensor && dram);
  EXPECT_NEAR(tensor->ratio, 1.2, 1e-9);
  EXPECT_NEAR(tensor->low, 1.15, 1e-9);
  EXPECT_NEAR(tensor->high, 1.26, 1e-9);
  EXPECT_EQ(tensor->problems, 3);
  EXPECT_NEAR(dram->ratio, 1.2, 1e-9);
  EXPECT_EQ(dram->problems, 1);
}

TEST(RelativeRates, AreAbsentWithoutProblemsThatShowThem) {
  const HardwareSpec gpu = test_ampere();
  const GpuMeasurements few{&gpu, {moe_run(8192, gpu, 0.5, 1)}};
  EXPECT_TRUE(relative_tensor_rate(few, few));
  EXPECT_FALSE(relative_dram_rate(few, few));
  EXPECT_FALSE(relative_tensor_rate(few, {&gpu, {moe_run(9000, gpu, 0.5, 1)}}));
}

}  // namespace
}  // namespace pw
