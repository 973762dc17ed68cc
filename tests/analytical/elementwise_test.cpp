#include "pw/elementwise.h"

#include <gtest/gtest.h>

#include "support/test_hardware.h"

namespace pw {
namespace {

TEST(ElementwiseUs, HasAFloorAndThenFollowsTheBandwidth) {
  const HardwareSpec a100 = test_ampere();
  EXPECT_EQ(elementwise_us(0, a100), 2.5);
  EXPECT_EQ(elementwise_us(1e5, a100), 2.5);
  // 2039.04e9 B/s * 0.85 = 1733184 B/us
  EXPECT_DOUBLE_EQ(elementwise_us(1733184.0 * 100, a100), 101.5);
}

TEST(AnalyticDurationUs, CountsThePassesOfTheFusedKernels) {
  const HardwareSpec a100 = test_ampere();
  EXPECT_DOUBLE_EQ(analytic_duration_us(RmsNormConfig{27966, 5120}, a100),
                   elementwise_us(4.0 * 2 * 27966 * 5120, a100));
  EXPECT_DOUBLE_EQ(analytic_duration_us(SiluMulConfig{27966, 27648}, a100),
                   elementwise_us(3.0 * 2 * 27966 * 13824, a100));
}

}  // namespace
}  // namespace pw
