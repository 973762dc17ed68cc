#include "pw/operators.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "pw/model_input.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

AttentionConfig attention(AttentionKernel kernel, KvLayout layout) {
  AttentionConfig a;
  a.kernel = kernel;
  a.layout = layout;
  a.q_lengths = {3000, 20, 500, 1};
  a.kv_lengths = {3000, 200, 600, 77};
  a.query_heads = 20;
  a.kv_heads = 4;
  a.head_dim = 128;
  return a;
}

// Problems of every family, small and large, with and without remainders.
std::vector<OperatorConfig> problems() {
  std::vector<OperatorConfig> all;
  for (const std::int64_t m : {1, 17, 513, 8192}) {
    for (const std::int64_t n : {40, 10240}) {
      all.push_back(GemmConfig{m, n, 8192, std::nullopt});
      Fp8GemmConfig fp8;
      fp8.m = m;
      fp8.n = n;
      fp8.k = 4096;
      all.push_back(fp8);
    }
    all.push_back(RmsNormConfig{m, 5120});
    all.push_back(RmsNormConfig{m, 20004});
    all.push_back(SiluMulConfig{m, 8200});
    all.push_back(MoeConfig{MoeConfig::Pass::w13, m, 8, 2, 1024, 512});
    all.push_back(MoeConfig{MoeConfig::Pass::w2, m, 64, 6, 2048, 1408});
  }
  for (const AttentionKernel kernel :
       {AttentionKernel::fa2, AttentionKernel::fa3, AttentionKernel::cutlass}) {
    for (const KvLayout layout : {KvLayout::ragged, KvLayout::paged}) {
      all.push_back(attention(kernel, layout));
    }
  }
  return all;
}

// The published sm90 rules count one CTA per SM for split-K, also when there are more CTAs than
// SMs.
bool is_oversubscribed_split(const OperatorConfig& problem, const HardwareSpec& hardware,
                             GemmTilePolicy policy) {
  const auto* gemm = std::get_if<GemmConfig>(&problem);
  if (gemm == nullptr || hardware.gemm_rules == GemmRules::sm80) {
    return false;
  }
  const GemmTile tile = choose_gemm_tile(*gemm, policy, hardware);
  return tile.split_k && tile.cta_count > hardware.num_sms;
}

TEST(AnalyzeOperator, BusiestSmIsAtLeastTheMean) {
  HardwareSpec ampere = test_ampere();
  ampere.tensor_fp8_ops_per_cycle_sm = 4096;
  const double rounding = 1 - 1e-12;
  int checked = 0;
  for (const HardwareSpec& hardware : {ampere, test_hopper()}) {
    for (const OperatorConfig& problem : problems()) {
      for (const Fa2Schedule schedule : {Fa2Schedule::published, Fa2Schedule::faithful}) {
        for (const GemmTilePolicy policy : {GemmTilePolicy::fixed_128, GemmTilePolicy::selected}) {
          if (is_oversubscribed_split(problem, hardware, policy)) {
            continue;
          }
          SCOPED_TRACE(hardware.stem + " " + describe(problem));
          const PipelineFeatures f = analyze_operator(problem, hardware, {schedule, policy});
          EXPECT_GE(f.tensor.sm_max_cycles, f.tensor.all_cycles * rounding);
          EXPECT_GE(f.fma.sm_max_cycles, f.fma.all_cycles * rounding);
          EXPECT_GE(f.xu.sm_max_cycles, f.xu.all_cycles * rounding);
          EXPECT_GT(f.tensor.all_cycles + f.fma.all_cycles, 0);
          EXPECT_GT(f.memory.sm_max_global_cycles, 0);
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 250);
}

TEST(AnalyzeOperator, DoublingABandwidthHalvesItsCycles) {
  const HardwareSpec base = test_hopper();
  HardwareSpec faster = base;
  faster.memory_bandwidth *= 2;
  faster.l2_bandwidth *= 2;
  faster.shared_bytes_per_cycle_sm *= 2;
  const AnalysisOptions options{Fa2Schedule::published, GemmTilePolicy::fixed_128};
  for (const OperatorConfig& problem : problems()) {
    const MemoryPipe slow = analyze_operator(problem, base, options).memory;
    const MemoryPipe fast = analyze_operator(problem, faster, options).memory;
    SCOPED_TRACE(describe(problem));
    EXPECT_DOUBLE_EQ(slow.global_cycles, 2 * fast.global_cycles);
    EXPECT_DOUBLE_EQ(slow.local_cycles, 2 * fast.local_cycles);
    EXPECT_DOUBLE_EQ(slow.sm_max_global_cycles, 2 * fast.sm_max_global_cycles);
    EXPECT_DOUBLE_EQ(slow.sm_max_local_cycles, 2 * fast.sm_max_local_cycles);
    EXPECT_DOUBLE_EQ(slow.sm_max_shared_cycles, 2 * fast.sm_max_shared_cycles);
    EXPECT_EQ(slow.global_kib, fast.global_kib);
  }
}

TEST(AnalyzeOperator, AutomaticAttentionIsFa3OnHopperOnly) {
  const AttentionConfig automatic = attention(AttentionKernel::automatic, KvLayout::paged);
  const AttentionConfig fa2 = attention(AttentionKernel::fa2, KvLayout::paged);
  const AttentionConfig fa3 = attention(AttentionKernel::fa3, KvLayout::paged);
  const auto cycles = [](const AttentionConfig& a, const HardwareSpec& hardware) {
    return analyze_operator(a, hardware).tensor.all_ops;
  };
  EXPECT_EQ(cycles(automatic, test_hopper()), cycles(fa3, test_hopper()));
  EXPECT_EQ(cycles(automatic, test_ampere()), cycles(fa2, test_ampere()));
  EXPECT_NE(cycles(fa2, test_hopper()), cycles(fa3, test_hopper()));
}

TEST(AnalyzeOperator, ScheduleModesDifferOnlyInTheBusiestSm) {
  AttentionConfig a = attention(AttentionKernel::fa2, KvLayout::ragged);
  a.kv_lengths = a.q_lengths;
  HardwareSpec l20 = test_ampere();
  l20.num_sms = 92;
  l20.shared_memory_kib = 100;
  const auto published = analyze_operator(a, l20, {Fa2Schedule::published, {}});
  const auto faithful = analyze_operator(a, l20, {Fa2Schedule::faithful, {}});
  // Golden row 946 of the published feature vectors (L20).
  EXPECT_EQ(published.tensor.all_ops, 50529042432);
  EXPECT_EQ(published.tensor.sm_max_ops, 743964672);
  EXPECT_EQ(published.xu.sm_max_ops, 1684224);
  EXPECT_EQ(published.memory.sm_max_kib, 2944);
  EXPECT_EQ(faithful.tensor.all_ops, 50529042432);
  EXPECT_EQ(faithful.tensor.sm_max_ops, 631504896);
  EXPECT_EQ(faithful.xu.sm_max_ops, 1444608);
  EXPECT_EQ(faithful.memory.sm_max_kib, 2528);
}

TEST(AnalyzeOperator, RefusesImpossibleProblems) {
  const HardwareSpec hopper = test_hopper();
  AttentionConfig uneven = attention(AttentionKernel::fa3, KvLayout::ragged);
  uneven.kv_heads = 3;
  AttentionConfig empty = attention(AttentionKernel::fa3, KvLayout::ragged);
  empty.q_lengths.clear();
  empty.kv_lengths.clear();
  AttentionConfig zero = attention(AttentionKernel::fa2, KvLayout::ragged);
  zero.kv_lengths[2] = 0;
  const std::vector<OperatorConfig> impossible = {
      GemmConfig{0, 16, 16, std::nullopt},
      SiluMulConfig{4, 7},
      RmsNormConfig{4, 0},
      uneven,
      empty,
      zero,
      MoeConfig{},
      GemmConfig{std::numeric_limits<std::int64_t>::max(), 4096, 4096, std::nullopt}};
  for (const OperatorConfig& problem : impossible) {
    EXPECT_THROW(analyze_operator(problem, hopper), DataError) << describe(problem);
  }
}

TEST(AnalyzeOperator, RefusesGpusWithoutTheNeededRate) {
  HardwareSpec no_fp8 = test_ampere();
  Fp8GemmConfig fp8;
  fp8.m = fp8.n = fp8.k = 128;
  EXPECT_THROW(analyze_operator(fp8, no_fp8), DataError);
  HardwareSpec no_smem = test_ampere();
  no_smem.shared_memory_kib = 0;
  EXPECT_THROW(analyze_operator(attention(AttentionKernel::fa2, KvLayout::ragged), no_smem),
               DataError);
}

TEST(OperatorFamilies, HaveThePublishedFeatureLists) {
  struct Expected {
    const char* name;
    std::size_t features;
    const char* first;
  };
  const Expected expected[] = {
      {"gemm", 11, "tensor_all_ops"},    {"gemm_fp8", 11, "tensor_all_ops"},
      {"attn", 15, "tensor_all_ops"},    {"rmsnorm", 15, "fma_all_ops"},
      {"siluandmul", 15, "fma_all_ops"}, {"moe", 11, "tensor_all_ops"}};
  ASSERT_EQ(operator_families().size(), std::size(expected) + 1);
  EXPECT_TRUE(operator_family("expert_block").features->empty());
  for (const Expected& e : expected) {
    const OperatorFamily& family = operator_family(e.name);
    EXPECT_EQ(family.features->size(), e.features) << e.name;
    EXPECT_EQ(family.features->front().name, e.first) << e.name;
    EXPECT_EQ(family.features->back().name, "sm_max_local_cycle") << e.name;
  }
  EXPECT_THROW(operator_family("gem"), DataError);
}

TEST(IdealCycles, AreTheTensorPipeOrFmaPlusXu) {
  PipelineFeatures f;
  f.fma.all_cycles = 3.25;
  f.xu.all_cycles = 1.5;
  EXPECT_EQ(ideal_cycles<double>(f), 4.75);
  f.tensor.all_cycles = 100;
  EXPECT_EQ(ideal_cycles<double>(f), 100);
  const HardwareSpec hardware = test_ampere();
  const double efficiency = efficiency_of(100, 2.0, hardware);
  EXPECT_DOUBLE_EQ(efficiency, 100 / (2.0 * 1410));
}

TEST(ModelKinds, OutputAndDurationAreInverse) {
  for (const ModelKind kind : {ModelKind::efficiency, ModelKind::log_ratio}) {
    EXPECT_EQ(parse_model_kind(to_string(kind)), kind);
    for (const double duration_us : {0.5, 7.0, 1e6}) {
      EXPECT_NEAR(duration_us_of(kind, output_of(kind, duration_us, 3.5), 3.5), duration_us,
                  1e-12 * duration_us);
    }
  }
  EXPECT_EQ(output_of(ModelKind::efficiency, 10, 5), 0.5);
  EXPECT_EQ(output_of(ModelKind::log_ratio, 5, 5), 0);
  EXPECT_THROW(parse_model_kind("ratio"), DataError);
}

TEST(ModelInputs, AreFiniteAndAsManyAsTheirNames) {
  HardwareSpec ampere = test_ampere();
  ampere.tensor_fp8_ops_per_cycle_sm = 4096;
  for (const HardwareSpec& hardware : {ampere, test_hopper()}) {
    for (const OperatorConfig& problem : problems()) {
      for (const ModelKind kind : {ModelKind::efficiency, ModelKind::log_ratio}) {
        const ModelInput input = model_input(problem, hardware, kind, {});
        SCOPED_TRACE(describe(problem));
        EXPECT_EQ(input.features.size(), feature_names(operator_family(problem), kind).size());
        EXPECT_GT(input.reference_us, 0);
        for (const double value : input.features) {
          EXPECT_TRUE(std::isfinite(value));
        }
      }
    }
  }
}

// Twice the speed of everything leaves the ratios and halves the bound.
TEST(ModelInputs, RatiosMeanTheSameOnAGpuOfTwiceTheClock) {
  const HardwareSpec base = test_hopper();
  HardwareSpec twice = base;
  twice.sm_freq_mhz *= 2;
  twice.memory_bandwidth *= 2;
  twice.l2_bandwidth *= 2;
  for (const OperatorConfig& problem :
       {OperatorConfig(GemmConfig{4096, 8192, 4096}),
        OperatorConfig(attention(AttentionKernel::fa3, KvLayout::ragged)),
        OperatorConfig(MoeConfig{MoeConfig::Pass::w13, 512, 8, 2, 1024, 512})}) {
    const ModelInput slow = model_input(problem, base, ModelKind::log_ratio, {});
    const ModelInput fast = model_input(problem, twice, ModelKind::log_ratio, {});
    const auto names = feature_names(operator_family(problem), ModelKind::log_ratio);
    EXPECT_NEAR(fast.reference_us, slow.reference_us / 2, 1e-9 * slow.reference_us);
    for (std::size_t i = 0; i < names.size(); ++i) {
      // The bound halves; a feature that is the clock itself follows it.
      const double shift =
          names[i] == "l_abs" ? std::log(2) : (names[i] == "ln_freq" ? -std::log(2) : 0);
      EXPECT_NEAR(fast.features[i], slow.features[i] - shift, 1e-9) << names[i];
    }
  }
}

}  // namespace
}  // namespace pw
