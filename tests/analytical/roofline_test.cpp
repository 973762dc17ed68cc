#include "pw/roofline.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

// Nothing but what a hardware file must give, and tcFp8.
HardwareSpec without_optional_keys() {
  HardwareSpec hardware = test_hopper();
  hardware.shared_memory_kib = 0;
  hardware.l2_cache_kib = 0;
  hardware.global_memory_bytes = 0;
  return hardware;
}

AttentionConfig attention() {
  AttentionConfig a;
  a.q_lengths = {100, 1};
  a.kv_lengths = {100, 1000};
  a.query_heads = 32;
  a.kv_heads = 8;
  a.head_dim = 128;
  return a;
}

Fp8GemmConfig fp8_gemm() {
  Fp8GemmConfig gemm;
  gemm.m = 100;
  gemm.n = 2000;
  gemm.k = 4096;
  return gemm;
}

struct Expected {
  OperatorConfig problem;
  double operations, bytes;
};
// By hand from the shapes: a multiply-add is 2 operations; every operand and result once.
std::vector<Expected> expected_work() {
  const double pairs = 100 * 101 / 2.0 + 1000;
  return {
      {GemmConfig{100, 2000, 4096}, 2.0 * 100 * 2000 * 4096,
       2.0 * (100 * 4096 + 2000 * 4096 + 100 * 2000)},
      {fp8_gemm(), 2.0 * 100 * 2000 * 4096, 1.0 * (100 * 4096 + 2000 * 4096 + 100 * 2000)},
      {attention(), 2 * 2 * pairs * 32 * 128,
       2.0 * (2 * 101 * 32 * 128 + 2 * 1100 * 8 * 128)},  // queries and results, keys and values
      {RmsNormConfig{100, 5120}, 0, 2.0 * 4 * 100 * 5120},
      {SiluMulConfig{100, 8192}, 0, 2.0 * 1.5 * 100 * 8192},
      // 6 rows reach 6 of 8 experts.
      {MoeConfig{MoeConfig::Pass::w13, 3, 8, 2, 1024, 512}, 2.0 * 6 * 1024 * 1024,
       2.0 * (6 * 1024 * 1024 + 6 * 1024 + 6 * 1024)},
      {MoeConfig{MoeConfig::Pass::w2, 30, 8, 2, 1024, 512}, 2.0 * 60 * 512 * 1024,
       2.0 * (8 * 1024 * 512 + 60 * 512 + 60 * 1024)},
  };
}

TEST(Work, IsArithmeticAndBytesOfEachFamily) {
  for (const Expected& expected : expected_work()) {
    SCOPED_TRACE(describe(expected.problem));
    const Work needed = operator_work(expected.problem);
    EXPECT_EQ(needed.operations, expected.operations);
    EXPECT_EQ(needed.bytes, expected.bytes);
    EXPECT_EQ(needed.element == Element::fp8,
              std::holds_alternative<Fp8GemmConfig>(expected.problem));
  }
}

TEST(Roofline, OfEveryFamilyNeedsNoOptionalKey) {
  const HardwareSpec bare = without_optional_keys();
  for (const Expected& expected : expected_work()) {
    SCOPED_TRACE(describe(expected.problem));
    const Roofline limits = roofline(expected.problem, bare);
    const double rate = std::holds_alternative<Fp8GemmConfig>(expected.problem) ? 8192 : 4096;
    EXPECT_DOUBLE_EQ(limits.compute_us, expected.operations / (rate * 132 * 1830));
    EXPECT_DOUBLE_EQ(limits.dram_us, expected.bytes / 3352320);
    EXPECT_EQ(limits.bound_us(), std::max(limits.compute_us, limits.dram_us));
  }
}

// The bound is at nominal rates: sustained fractions are for estimates.
TEST(Roofline, IsTheBoundOfTheRatioFeatures) {
  HardwareSpec nominal = test_hopper();
  nominal.sustained_tensor_fraction = 1;
  nominal.sustained_dram_fraction = 1;
  HardwareSpec sustained = nominal;
  sustained.sustained_tensor_fraction = 0.5;
  sustained.sustained_dram_fraction = 0.5;
  for (const Expected& expected : expected_work()) {
    SCOPED_TRACE(describe(expected.problem));
    const Roofline limits = roofline(expected.problem, sustained);
    EXPECT_DOUBLE_EQ(limits.bound_us(), operator_ratios(expected.problem, nominal).bound_us);
  }
}

TEST(Roofline, RefusesWhatHasNoMeaning) {
  const HardwareSpec no_fp8 = test_ampere();
  EXPECT_EQ(error_of([&] { roofline(fp8_gemm(), no_fp8); }),
            "hardware 'A100' has no tcFp8: fp8 GEMMs cannot be predicted for it");
  AttentionConfig short_context = attention();
  short_context.kv_lengths = {99, 1000};
  EXPECT_THROW(roofline(short_context, no_fp8), DataError);
  EXPECT_THROW(roofline(MoeConfig{}, no_fp8), DataError);
  EXPECT_THROW(roofline(GemmConfig{0, 16, 16}, no_fp8), DataError);
}

}  // namespace
}  // namespace pw
