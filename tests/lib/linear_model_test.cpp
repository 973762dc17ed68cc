#include "pw/linear_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

// Rows of GEMMs whose durations are `truth` of their rooflines.
Dataset gemm_rows(const LinearModel& truth) {
  Dataset data;
  data.family = &operator_family("gemm");
  for (const std::int64_t m : {1, 16, 256, 4096}) {
    for (const std::int64_t n : {512, 4096, 16384}) {
      data.roofline.push_back(roofline(GemmConfig{m, n, 4096}, test_ampere()));
      data.duration_us.push_back(truth.duration_us(data.roofline.back()));
    }
  }
  return data;
}

TEST(Roofline, IsComputeAndDramTimeAtNominalRates) {
  HardwareSpec a100 = test_ampere();
  const GemmConfig gemm{4096, 8192, 2048};
  const Roofline limits = roofline(gemm, a100);
  EXPECT_NEAR(limits.compute_us, 2.0 * 4096 * 8192 * 2048 / (2048.0 * 108 * 1410), 1e-6);
  EXPECT_NEAR(limits.dram_us, 2.0 * (4096 * 2048 + 8192 * 2048 + 4096 * 8192) / 2039.04e3, 1e-9);
  EXPECT_EQ(limits.bound_us(), limits.compute_us);
  a100.sustained_tensor_fraction = 0.5;  // does not count
  EXPECT_EQ(roofline(gemm, a100).compute_us, limits.compute_us);
  const Roofline norm = roofline(RmsNormConfig{100, 5120}, a100);
  EXPECT_EQ(norm.compute_us, 0);
  EXPECT_NEAR(norm.dram_us, 8.0 * 100 * 5120 / 2039.04e3, 1e-9);
}

TEST(FitLinear, FindsTheCoefficients) {
  const LinearModel truth{3.5, 1.25, 0.75};
  const LinearModel found = fit_linear(gemm_rows(truth));
  EXPECT_NEAR(found.overhead_us, truth.overhead_us, 1e-6);
  EXPECT_NEAR(found.compute, truth.compute, 1e-6);
  EXPECT_NEAR(found.dram, truth.dram, 1e-6);
}

TEST(FitLinear, NeverGoesBelowZero) {
  Dataset data = gemm_rows({5, 1, 0});
  for (std::size_t row = 0; row < data.duration_us.size(); ++row) {
    data.duration_us[row] -= 0.1 * data.roofline[row].dram_us;  // pulls `dram` down
  }
  const LinearModel found = fit_linear(data);
  EXPECT_EQ(found.dram, 0);
  EXPECT_GT(found.compute, 0.5);
}

TEST(LinearModels, SurviveTheirJson) {
  const TemporaryFolder folder;
  const LinearModels models{{"gemm", {1, 2, 3}}, {"attn", {0, 1.5, 0.25}}};
  const auto path = folder.file("linear.json", linear_models_json(models));
  const LinearModels read = read_linear_models(path);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read.at("attn").compute, 1.5);
  const auto refused = [&](const char* json) {
    return error_of([&] { read_linear_models(folder.file("bad.json", json)); });
  };
  EXPECT_THAT(refused(R"({"gem": {}})"), testing::HasSubstr("unknown operator 'gem'"));
  EXPECT_THAT(refused(R"({"gemm": {"overhead_us": 1, "compute": -1, "dram": 1}})"),
              testing::HasSubstr("negative coefficients"));
  EXPECT_THAT(refused(R"({"gemm": {"overhead_us": 1, "compute": 1}})"), testing::HasSubstr("dram"));
}

}  // namespace
}  // namespace pw
