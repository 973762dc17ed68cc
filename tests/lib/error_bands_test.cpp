#include "error_bands.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/fake_model.h"
#include "support/synthetic_gemm.h"

namespace pw {
namespace {

std::vector<double> one_to(int last) {
  std::vector<double> values;
  for (int value = last; value >= 1; --value) {
    values.push_back(value);
  }
  return values;
}

TEST(ErrorBand, OneMoreErrorLiesWithinFourTimesOfFive) {
  const auto band = error_band(one_to(19));
  ASSERT_TRUE(band);
  EXPECT_EQ(band->rows, 19);
  EXPECT_NEAR(band->p10, 2, 1e-12);  // 19 values leave 20 places, the 2nd and the 18th bound 80 %
  EXPECT_NEAR(band->p50, 10, 1e-12);
  EXPECT_NEAR(band->p90, 18, 1e-12);
  EXPECT_NEAR(error_band(one_to(24))->p10, 2.5, 1e-12);
}

TEST(ErrorBand, NineErrorsAreTheFewest) {
  EXPECT_FALSE(error_band(one_to(8)));
  EXPECT_NEAR(error_band(one_to(9))->p10, 1, 1e-12);
  EXPECT_NEAR(error_band(one_to(9))->p90, 9, 1e-12);
}

TEST(ErrorBand, TheWidestSpansAll) {
  EXPECT_FALSE(widest_band({}));
  const auto widest = widest_band({{10, -2, -1, 1, {}}, {20, -1, 0, 3, {}}, {30, 0, 4, 2, {}}});
  EXPECT_EQ(widest->rows, 60);
  EXPECT_EQ(widest->p10, -2);
  EXPECT_EQ(widest->p50, 0);
  EXPECT_EQ(widest->p90, 3);
}

// Two GPUs, the second with errors ten times as wide.
struct HeldOut {
  Dataset data = synthetic_data(2000);
  std::vector<FitErrors> fits;

  HeldOut() {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    FitErrors fit;
    for (std::size_t row = 0; row < data.rows(); ++row) {
      fit.rows.push_back(static_cast<std::int64_t>(row));
      fit.errors.push_back((data.hardware[row] == 0 ? 0.01 : 0.1) * normal(generator));
    }
    fits = {fit};
  }
};

TEST(KnownGpuErrors, AreThoseOfEachGpuAndCoverWhatTheyClaim) {
  const HeldOut held_out;
  const auto errors =
      known_gpu_errors(held_out.data, held_out.fits, held_out.data.problem, 42, "problems");
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->held_out, "problems");
  EXPECT_EQ(errors->all.rows, 4000);
  ASSERT_EQ(errors->of_gpu.size(), 2u);
  EXPECT_NEAR(errors->of("NVIDIA A100-SXM4-80GB").p90, 0.0128, 0.002);  // 1.28 sigma
  EXPECT_NEAR(errors->of("NVIDIA H800").p10, -0.128, 0.02);
  EXPECT_NEAR(errors->of("NVIDIA L4").p10, errors->all.p10, 1e-12);
  for (const auto& [gpu, band] : errors->of_gpu) {
    EXPECT_NEAR(band.coverage.value(), 0.8, 0.03) << gpu;
  }
}

// Rows of a group share their error, so that only whole groups tell the truth: if rows of a tested
// group were in the band, hardly any would lie outside.
TEST(KnownGpuErrors, CoverageIsOfGroupsThatTheBandDoesNotHave) {
  Dataset data = synthetic_data(400);
  std::vector<std::uint64_t> group;
  FitErrors fit;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    group.push_back(row % 4);
    fit.rows.push_back(static_cast<std::int64_t>(row));
    fit.errors.push_back(static_cast<double>(row % 4));
  }
  const auto errors = known_gpu_errors(data, {fit}, group, 42, "groups");
  EXPECT_EQ(errors->all.p10, 0);
  EXPECT_EQ(errors->all.p90, 3);
  EXPECT_LE(errors->all.coverage.value(), 0.5);
}

TEST(NewGpuErrors, CoverageOfAGpuIsByTheOthers) {
  HeldOut held_out;
  const auto errors = new_gpu_errors(held_out.data, held_out.fits, "GPU");
  ASSERT_TRUE(errors);
  // The narrow errors lie in the wide band, but not the reverse.
  EXPECT_EQ(errors->of("NVIDIA A100-SXM4-80GB").coverage.value(), 1);
  EXPECT_LT(errors->of("NVIDIA H800").coverage.value(), 0.4);
  EXPECT_EQ(errors->all.p90, errors->of("NVIDIA H800").p90);
  EXPECT_NEAR(errors->all.coverage.value(), (1 + errors->of("NVIDIA H800").coverage.value()) / 2,
              1e-12);
}

TEST(BandFor, AsksWhetherTheModelKnowsTheGpu) {
  ModelRecord record;
  record.hardware_rows = {{"NVIDIA H100", 10}};
  EXPECT_FALSE(band_for(record, "NVIDIA H100"));
  record.known_gpu_errors = HeldOutErrors{"problems", {20, -0.1, 0, 0.1, {}}, {}};
  EXPECT_EQ(band_for(record, "NVIDIA H100")->p90, 0.1);
  EXPECT_FALSE(band_for(record, "NVIDIA H20")) << "errors on known GPUs say nothing about others";
  record.new_gpu_errors = HeldOutErrors{"GPU", {20, -0.4, 0, 0.4, {}}, {}};
  EXPECT_EQ(band_for(record, "NVIDIA H20")->p90, 0.4);
  EXPECT_EQ(band_for(record, "NVIDIA H100")->p90, 0.1);
}

TEST(BandCoverage, CountsRowsWithinTheModelsBand) {
  Dataset data = synthetic_data(10);
  const auto model = constant_model("gemm", 0.5f);
  model->record().hardware_rows = {{data.hardware_names[0], 10}};
  model->record().known_gpu_errors = HeldOutErrors{"problems", {20, -0.1, 0, 0.1, {}}, {}};
  for (std::size_t row = 0; row < data.rows(); ++row) {
    data.efficiency[row] = row < 10 ? 0.5 : 0.25;
  }
  const LabelledCoverage table = band_coverage(*model, data, "test");
  ASSERT_EQ(table.size(), 2u) << "the other GPU has no band";
  EXPECT_EQ(table[0].first, "test");
  EXPECT_EQ(table[1].first, "test: " + data.hardware_names[0]);
  EXPECT_EQ(table[1].second.rows, 10);
  EXPECT_EQ(table[1].second.shares, std::vector<double>{0.5});
}

}  // namespace
}  // namespace pw
