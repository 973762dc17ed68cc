// Values of the original's optional calculators on an H800, from its published description.

#include <gtest/gtest.h>

#include "pw/operators.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

struct Expected {
  double tensor_all_ops, tensor_sm_max_ops, xu_all_ops, xu_sm_max_ops, all_kib, sm_max_kib;
};

struct Case {
  std::vector<std::int64_t> q, kv;
  std::int64_t heads, head_dim;
  bool causal;
  Expected expected;
};

AttentionConfig config(AttentionKernel kernel, const Case& c) {
  AttentionConfig a;
  a.kernel = kernel;
  a.q_lengths = c.q;
  a.kv_lengths = c.kv;
  a.query_heads = a.kv_heads = c.heads;
  a.head_dim = c.head_dim;
  a.causal = c.causal;
  return a;
}

void expect(AttentionConfig attention, const Expected& expected) {
  for (const KvLayout layout : {KvLayout::ragged, KvLayout::paged}) {
    for (const std::int64_t kv_heads : {attention.query_heads, std::int64_t{1}}) {
      attention.layout = layout;
      attention.kv_heads = kv_heads;
      SCOPED_TRACE(attention_type(attention.kernel, layout) + " hd " +
                   std::to_string(attention.head_dim) + " nkv " + std::to_string(kv_heads));
      const PipelineFeatures f = analyze(attention, test_hopper(), {});
      EXPECT_EQ(f.tensor.all_ops, expected.tensor_all_ops);
      EXPECT_EQ(f.tensor.sm_max_ops, expected.tensor_sm_max_ops);
      EXPECT_EQ(f.xu.all_ops, expected.xu_all_ops);
      EXPECT_EQ(f.xu.sm_max_ops, expected.xu_sm_max_ops);
      EXPECT_EQ(f.memory.global_kib, expected.all_kib);
      EXPECT_EQ(f.memory.sm_max_kib, expected.sm_max_kib);
    }
  }
}

TEST(Cutlass, HasThePublishedFeatures) {
  const Case cases[] = {
      {{64, 512},
       {320, 1536},
       32,
       128,
       true,
       {11945377792, 121634816, 24870912, 253440, 50688, 544}},
      {{512, 512},
       {1536, 1536},
       32,
       128,
       true,
       {22548578304, 201326592, 46923776, 418816, 94208, 832}},
      {{1000, 1000, 1000},
       {1000, 1000, 1000},
       16,
       64,
       false,
       {12884901888, 100663296, 52101120, 407040, 55296, 432}},
      {{777}, {777}, 24, 192, true, {7398752256, 100663296, 10321920, 140288, 36288, 480}},
      {{2048, 2048, 2048, 2048},
       {2048, 2048, 2048, 2048},
       8,
       256,
       true,
       {73014444032, 721420288, 80478208, 794624, 311296, 3008}},
  };
  for (const Case& c : cases) {
    expect(config(AttentionKernel::cutlass, c), c.expected);
  }
}

TEST(Cutlass, TilesWithoutVisibleKvDoNothing) {
  // The first of two query tiles would end before the context begins.
  const PipelineFeatures f = analyze(
      config(AttentionKernel::cutlass, {{256}, {100}, 1, 128, true, {}}), test_hopper(), {});
  EXPECT_EQ(f.tensor.all_ops, 4.0 * 128 * 64 * 128 * 2);  // ceil(100 / 64) iterations
  EXPECT_EQ(f.memory.global_kib, (128 + 2 * 64) * 128 * 2 / 1024.0);
}

TEST(ComposableKernel, HasThePublishedFeatures) {
  const Case cases[] = {
      {{512, 512},
       {1536, 1536},
       32,
       128,
       true,
       {5368709120, 67108864, 14843904, 165888, 49152, 576}},
      {{1000, 1000, 1000},
       {1000, 1000, 1000},
       16,
       64,
       false,
       {12884901888, 100663296, 55050240, 430080, 104448, 816}},
      {{777}, {777}, 24, 192, true, {8304721920, 157286400, 15280128, 260352, 71424, 1296}},
      {{2048, 2048, 2048, 2048},
       {2048, 2048, 2048, 2048},
       8,
       256,
       true,
       {73014444032, 671088640, 92536832, 827392, 589824, 5376}},
  };
  for (const Case& c : cases) {
    expect(config(AttentionKernel::ck, c), c.expected);
  }
}

TEST(ComposableKernel, RefusesRequestsOfDifferentLengths) {
  const Case equal{{512, 512}, {1536, 1536}, 4, 128, true, {}};
  Case queries = equal, contexts = equal;
  queries.q[1] = 64;
  contexts.kv[0] = 2000;
  EXPECT_NO_THROW(analyze(config(AttentionKernel::ck, equal), test_hopper(), {}));
  EXPECT_THROW(analyze(config(AttentionKernel::ck, queries), test_hopper(), {}), DataError);
  EXPECT_THROW(analyze(config(AttentionKernel::ck, contexts), test_hopper(), {}), DataError);
  EXPECT_NO_THROW(analyze(config(AttentionKernel::cutlass, queries), test_hopper(), {}));
}

TEST(AttentionKernels, RunWhereEnginesRunThem) {
  HardwareSpec data_center = test_hopper();  // as the B200
  data_center.architecture = Architecture::blackwell;
  HardwareSpec workstation = data_center;
  workstation.gemm_rules = GemmRules::sm80;
  const struct {
    AttentionKernel kernel;
    bool ampere, hopper, data_center, workstation;
  } cases[] = {
      {AttentionKernel::automatic, true, true, true, true},
      {AttentionKernel::fa2, true, false, true, true},
      {AttentionKernel::fa3, false, true, false, false},
      {AttentionKernel::cutlass, false, false, true, false},
      {AttentionKernel::ck, false, false, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(attention_type(c.kernel, KvLayout::ragged));
    EXPECT_EQ(runs_on(c.kernel, test_ampere()), c.ampere);
    EXPECT_EQ(runs_on(c.kernel, test_hopper()), c.hopper);
    EXPECT_EQ(runs_on(c.kernel, data_center), c.data_center);
    EXPECT_EQ(runs_on(c.kernel, workstation), c.workstation);
  }
}

}  // namespace
}  // namespace pw
