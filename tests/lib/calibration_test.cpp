#include "pw/calibration.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace pw
