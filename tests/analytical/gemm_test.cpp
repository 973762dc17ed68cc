#include "pw/gemm.h"

#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "gemm_rates.h"
#include "pw/operators.h"
#include "support/gemm_tile_oracle.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

HardwareSpec a40() {
  HardwareSpec hardware = test_ampere();
  hardware.num_sms = 84;
  hardware.sm_freq_mhz = 1740;
  hardware.tensor_bf16_ops_per_cycle_sm = 1024;
  hardware.memory_bandwidth = 696.096;
  hardware.l2_bandwidth = 2430;
  return hardware;
}

// Worked example of the published description, sm80 rules with two slices of K.
TEST(GemmFeatures, Sm80WorkedExample) {
  const GemmConfig gemm{513, 10240, 8192, GemmTile{128, 64, 32, 1600, false}};
  const PipelineFeatures f = analyze(gemm, a40(), {});
  EXPECT_EQ(f.tensor.all_ops, 107374182400);
  EXPECT_DOUBLE_EQ(f.tensor.all_cycles, 1248304.761904762);
  EXPECT_EQ(f.tensor.sm_max_ops, 1342177280);
  EXPECT_EQ(f.memory.global_kib, 174080);
  EXPECT_DOUBLE_EQ(f.memory.global_cycles, 414981.82362777553);
  EXPECT_EQ(f.memory.sm_max_kib, 30720);
  EXPECT_DOUBLE_EQ(f.memory.sm_max_local_cycles, 1762152.7777777782);
}

TEST(GemmFeatures, Sm90PersistentAndSplitWorkedExamples) {
  const GemmConfig persistent{513, 10240, 8192, GemmTile{128, 128, 64, 132, false}};
  const PipelineFeatures p = analyze(persistent, test_hopper(), {});
  EXPECT_EQ(p.tensor.sm_max_ops, 1073741824);
  EXPECT_EQ(p.memory.sm_max_kib, 16384);
  const GemmConfig split{513, 10240, 8192, GemmTile{128, 128, 64, 800, true}};
  const PipelineFeatures s = analyze(split, test_hopper(), {});
  EXPECT_EQ(s.tensor.sm_max_ops, 134217728);
  EXPECT_EQ(s.memory.sm_max_kib, 2048);
  EXPECT_DOUBLE_EQ(s.memory.sm_max_local_cycles, 53491.70918367348);
}

// More persistent CTAs than tiles: the surplus counts as repeated work.
TEST(GemmFeatures, Sm90SurplusCtasRepeatWork) {
  const GemmConfig exact{128, 128, 512, GemmTile{128, 128, 64, 1, false}};
  const GemmConfig surplus{128, 128, 512, GemmTile{128, 128, 64, 3, false}};
  EXPECT_EQ(analyze(surplus, test_hopper(), {}).tensor.all_ops,
            3 * analyze(exact, test_hopper(), {}).tensor.all_ops);
}

TEST(GemmTilePolicy, FixedTileLaunchesOneCtaPerTileOrOnePerSm) {
  const GemmConfig gemm{1000, 8000, 4096, std::nullopt};  // 8 x 63 tiles
  const GemmTile sm80 = choose_gemm_tile(gemm, GemmTilePolicy::fixed_128, test_ampere());
  EXPECT_EQ(sm80.cta_count, 504);
  EXPECT_FALSE(sm80.split_k);
  const GemmTile sm90 = choose_gemm_tile(gemm, GemmTilePolicy::fixed_128, test_hopper());
  EXPECT_EQ(sm90.cta_count, 132);
}

TEST(GemmTilePolicy, SelectionSplitsKWhenThereAreFewTiles) {
  const TileSelection deep = select_gemm_tile(16, 128, 16384, test_ampere());
  EXPECT_GT(deep.split, 1);
  const GemmTile tile = choose_gemm_tile(GemmConfig{16, 128, 16384, std::nullopt},
                                         GemmTilePolicy::selected, test_ampere());
  EXPECT_TRUE(tile.split_k);
  EXPECT_EQ(tile.cta_count,
            deep.split * ((16 + tile.m - 1) / tile.m) * ((128 + tile.n - 1) / tile.n));
  const TileSelection large = select_gemm_tile(8192, 8192, 8192, test_ampere());
  EXPECT_EQ(large.split, 1);
  EXPECT_EQ(large.tile_m * large.tile_n, 256 * 128);
}

// Tiles that cannot win are skipped without an estimate: it must make no difference.
TEST(GemmTilePolicy, SelectionEqualsTheSearchThroughAllTiles) {
  std::mt19937 random(3);
  const auto size = [&](double most) {
    return static_cast<std::int64_t>(
        std::exp2(std::uniform_real_distribution<double>(0, std::log2(most))(random)));
  };
  std::set<std::pair<std::int64_t, std::int64_t>> shapes;
  std::set<std::int64_t> splits;
  for (int i = 0; i < 40000; ++i) {
    HardwareSpec hardware = i % 2 == 0 ? a40() : test_hopper();
    if (i % 3 == 0) {
      hardware.num_sms = size(300);
      hardware.l2_bandwidth *= std::uniform_real_distribution<double>(0.02, 2)(random);
    }
    const GemmRates rates = bf16_gemm_rates(hardware);
    const std::int64_t m = size(1e6), n = size(3e5), k = size(1e5);
    const TileSelection found = select_gemm_tile(m, n, k, rates);
    const TileSelection expected = oracle::select_gemm_tile(m, n, k, rates);
    SCOPED_TRACE(describe(GemmConfig{m, n, k}) + ", case " + std::to_string(i));
    ASSERT_EQ(found.tile_m, expected.tile_m);
    ASSERT_EQ(found.tile_n, expected.tile_n);
    ASSERT_EQ(found.split, expected.split);
    ASSERT_DOUBLE_EQ(found.estimate_us, expected.estimate_us);
    shapes.emplace(found.tile_m, found.tile_n);
    splits.insert(found.split);
  }
  EXPECT_GT(shapes.size(), 10u);
  EXPECT_EQ(splits.size(), 7u);
}

TEST(SustainedFractions, ComeFromTheFileOrTheArchitecture) {
  HardwareSpec hopper = test_hopper();
  EXPECT_TRUE(sustained_fractions(hopper).is_default);
  EXPECT_EQ(sustained_fractions(hopper).tensor, 0.70);
  HardwareSpec capped = hopper;
  capped.tensor_bf16_ops_per_cycle_sm = 1024;  // as the H20
  EXPECT_EQ(sustained_fractions(capped).tensor, 0.95);
  capped.architecture = Architecture::ada;  // whose chips do no more than that
  EXPECT_EQ(sustained_fractions(capped).tensor, 0.53);
  capped.tensor_bf16_ops_per_cycle_sm = 516;  // as the L20
  EXPECT_EQ(sustained_fractions(capped).tensor, 0.85);
  hopper.sustained_tensor_fraction = 0.9;
  EXPECT_TRUE(sustained_fractions(hopper).is_default);
  EXPECT_EQ(sustained_fractions(hopper).tensor, 0.9);
  hopper.sustained_dram_fraction = 0.8;
  EXPECT_FALSE(sustained_fractions(hopper).is_default);
}

}  // namespace
}  // namespace pw
