#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/workload.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/steps.h"

namespace pw {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WorkloadOptions options_of(std::int64_t tp_size, std::int64_t pp_size, bool published = false) {
  WorkloadOptions options;
  options.tp_size = tp_size;
  options.pp_size = pp_size;
  options.published_rules = published;
  return options;
}

void expect_gemm(const Step& step, std::string_view name, std::string_view type,
                 std::vector<std::int64_t> m_n_k_calls) {
  const Op& op = op_of(step, name);
  const auto& gemm = std::get<GemmConfig>(op.problem);
  EXPECT_EQ(op.type, type) << name;
  EXPECT_EQ((std::vector{gemm.m, gemm.n, gemm.k, op.calls}), m_n_k_calls) << name;
}

TEST(GenerateWorkload, ListsTheOperatorsOfAnIteration) {
  const Workload workload =
      generate_workload(demo_model(2), {"t", {{30, 3}, {70, 3}}, {}}, options_of(4, 1));
  ASSERT_EQ(workload.steps.size(), 3u);
  const Step& prefill = workload.steps[0];
  EXPECT_EQ(prefill.phase, Phase::prefill);
  EXPECT_THAT(prefill.batch.q_lengths, ElementsAre(30, 70));
  EXPECT_THAT(prefill.batch.kv_lengths, ElementsAre(30, 70));
  expect_gemm(prefill, "qkv_proj", "ColumnParallelLinear", {100, 768, 2048, 4});
  expect_gemm(prefill, "o_proj", "RowParallelLinear", {100, 2048, 512, 4});
  expect_gemm(prefill, "gate_up_proj", "MergedColumnParallelLinear", {100, 2816, 2048, 4});
  expect_gemm(prefill, "down_proj", "RowParallelLinear", {100, 2048, 1408, 4});
  expect_gemm(prefill, "lm_head", "Linear", {2, 8000, 2048, 1});
  ASSERT_EQ(prefill.attention.size(), 1u);
  EXPECT_EQ(attention_of(prefill).query_heads, 4);
  EXPECT_EQ(attention_of(prefill).kv_heads, 1);
  EXPECT_EQ(attention_of(prefill).head_dim, 128);
  EXPECT_EQ(prefill.attention[0].calls, 4);
  EXPECT_EQ(problem_of<RmsNormConfig>(prefill, "rmsnorm").seq, 100);
  EXPECT_EQ(problem_of<RmsNormConfig>(prefill, "rmsnorm").dim, 2048);
  EXPECT_EQ(op_of(prefill, "rmsnorm").calls, 9);
  EXPECT_EQ(problem_of<SiluMulConfig>(prefill, "siluandmul").dim, 2816);
  EXPECT_EQ(op_of(prefill, "siluandmul").calls, 4);
  ASSERT_EQ(prefill.body->transfers.size(), 1u);
  EXPECT_EQ(prefill.body->transfers[0].volume_bytes, 2 * 100 * 2048);
  EXPECT_EQ(prefill.body->transfers[0].calls, 8);

  const Step& last = workload.steps[2];
  EXPECT_EQ(last.number, 3);
  EXPECT_EQ(last.phase, Phase::decode);
  EXPECT_THAT(last.batch.q_lengths, ElementsAre(1, 1));
  EXPECT_THAT(last.batch.kv_lengths, ElementsAre(32, 72));
  expect_gemm(last, "qkv_proj", "ColumnParallelLinear", {2, 768, 2048, 4});
}

TEST(GenerateWorkload, LetsFinishedRequestsLeave) {
  const Trace trace{
      "t", {{10, 3}, {20, 1}, {30, 2}}, {{FactKind::note, "a note of the trace", {}}}};
  const Workload ours = generate_workload(demo_model(), trace, {});
  ASSERT_EQ(ours.steps.size(), 3u);
  EXPECT_THAT(ours.steps[0].batch.kv_lengths, ElementsAre(10, 20, 30));
  EXPECT_THAT(ours.steps[1].batch.kv_lengths, ElementsAre(11, 31));
  EXPECT_THAT(ours.steps[2].batch.kv_lengths, ElementsAre(12));
  EXPECT_THAT(sentences(ours.facts), Contains("a note of the trace"));
  EXPECT_THAT(sentences(ours.facts), Contains(HasSubstr("1 to 3 tokens: each request leaves")));

  const Workload published = generate_workload(demo_model(), trace, options_of(1, 1, true));
  ASSERT_EQ(published.steps.size(), 3u);
  EXPECT_THAT(published.steps[2].batch.kv_lengths, ElementsAre(12, 22, 32));
  EXPECT_THAT(sentences(published.facts),
              Contains(HasSubstr("1 to 3 tokens: the first request's 3")));
}

TEST(GenerateWorkload, EqualOutputLengthsNeedNoFact) {
  EXPECT_THAT(sentences(generate_workload(demo_model(), uniform_trace(2, 5, 1), {}).facts),
              IsEmpty());
}

TEST(GenerateWorkload, ShardsTheVocabularyUnlessPublished) {
  ModelConfig model = demo_model();
  model.vocab_size = 32001;
  const Trace trace = uniform_trace(1, 8, 1);
  const auto width = [&](std::int64_t tp_size, bool published) {
    const Workload workload = generate_workload(model, trace, options_of(tp_size, 1, published));
    return problem_of<GemmConfig>(workload.steps[0], "lm_head").n;
  };
  EXPECT_EQ(width(1, false), 32001);
  EXPECT_EQ(width(2, false), 16032);
  EXPECT_EQ(width(2, true), 32001);
}

TEST(GenerateWorkload, DescribesAllPipelineStages) {
  ModelConfig model = demo_model();
  model.layers[0].count = 61;
  const Workload workload = generate_workload(model, uniform_trace(1, 8, 1), options_of(1, 4));
  const Step& iteration = workload.steps[0];
  EXPECT_EQ(op_of(iteration, "qkv_proj").calls, 61);
  ASSERT_EQ(iteration.body->transfers.size(), 1u);
  EXPECT_EQ(iteration.body->transfers[0].name, "send_recv");
  EXPECT_EQ(iteration.body->transfers[0].type, "p2p");
  EXPECT_EQ(iteration.body->transfers[0].volume_bytes, 4 * 8 * 2048);
  EXPECT_EQ(iteration.body->transfers[0].calls, 3);
  EXPECT_THAT(sentences(workload.facts), Contains(HasSubstr("16, 15, 15, 15 layers")));
}

TEST(GenerateWorkload, NeedsNoCommunicationOnOneGpu) {
  const Workload workload = generate_workload(demo_model(), uniform_trace(1, 8, 2), {});
  EXPECT_THAT(workload.steps[0].body->transfers, IsEmpty());
  EXPECT_THAT(workload.steps[1].body->transfers, IsEmpty());
}

TEST(GenerateWorkload, KeepsAttentionKernelsOpenUnlessChosen) {
  struct Case {
    AttentionKernel prefill, decode;
    bool published;
    const char* prefill_type;
    const char* decode_type;
    const char* file_name;
  };
  constexpr AttentionKernel kOpen = AttentionKernel::automatic;
  const Case cases[] = {
      {kOpen, kOpen, false, "auto_ragged", "auto_paged", "Demo_1x8+2_auto_tp2_pp1.json"},
      {AttentionKernel::fa3, kOpen, false, "fa3_ragged", "auto_paged",
       "Demo_1x8+2_fa3_tp2_pp1.json"},
      {kOpen, kOpen, true, "fa2_ragged", "fa2_paged", "Demo_1x8+2_fa2_tp2_pp1.json"},
      {AttentionKernel::fa3, kOpen, true, "fa3_ragged", "fa2_paged", "Demo_1x8+2_fa3_tp2_pp1.json"},
      {AttentionKernel::fa2, AttentionKernel::fa3, false, "fa2_ragged", "fa3_paged",
       "Demo_1x8+2_fa2_tp2_pp1.json"},
  };
  const Trace trace = uniform_trace(1, 8, 2);
  for (const Case& c : cases) {
    WorkloadOptions options = options_of(2, 1, c.published);
    options.prefill_kernel = c.prefill;
    options.decode_kernel = c.decode;
    const Workload workload = generate_workload(demo_model(), trace, options);
    const AttentionConfig& prefill = attention_of(workload.steps[0]);
    const AttentionConfig& decode = attention_of(workload.steps[1]);
    EXPECT_EQ(attention_type(prefill.kernel, prefill.layout), c.prefill_type);
    EXPECT_EQ(attention_type(decode.kernel, decode.layout), c.decode_type);
    EXPECT_EQ(workload_file_name(demo_model(), trace, options), c.file_name);
    EXPECT_EQ(workload.stem + ".json", c.file_name);
  }
}

TEST(GenerateWorkload, KeepsLargeSizesExact) {
  const Workload workload = generate_workload(
      demo_model(), {"t", {{1048576, 2}, {1048576, 2}, {1048576, 2}}, {}}, options_of(2, 1));
  const Step& prefill = workload.steps[0];
  EXPECT_EQ(num_tokens(prefill.batch), 3145728);
  EXPECT_EQ(prefill.body->transfers[0].volume_bytes, 12884901888);
  EXPECT_EQ(problem_of<GemmConfig>(prefill, "gate_up_proj").m, 3145728);
}

TEST(GenerateWorkload, RefusesWhatCannotBeDone) {
  ModelConfig huge = demo_model();
  huge.hidden_size = 2147483647;
  const Trace one = uniform_trace(1, 8, 2);
  struct Bad {
    ModelConfig model;
    Trace trace;
    WorkloadOptions options;
    const char* message;
  };
  const Bad cases[] = {
      {demo_model(), {"none", {}, {}}, {}, "trace none has no requests"},
      {demo_model(), one, options_of(3, 1), "valid tp_size values are 1, 2, 4, 8, 16"},
      {demo_model(), one, options_of(1, 7), "pp_size 7 > num_hidden_layers 4"},
      {demo_model(), uniform_trace(1, 8, 2147483647), {}, "needs 2147483647 iterations"},
      {demo_model(), uniform_trace(1 << 15, 8, 1 << 15), {}, "with 1073741824 request lengths"},
      {huge, uniform_trace(4, 2147483647, 1), options_of(1, 2), "a size exceeds 2^63"},
  };
  for (const Bad& bad : cases) {
    EXPECT_THAT(error_of([&] { generate_workload(bad.model, bad.trace, bad.options); }),
                HasSubstr(bad.message));
  }
}

// A step's context has been driven from L2 by the weights of all layers since the step before.
TEST(GenerateWorkload, DecodeReadsItsContextFromDram) {
  const Workload workload = generate_workload(demo_model(), uniform_trace(1, 8, 3), {});
  for (const Step& iteration : workload.steps) {
    EXPECT_EQ(attention_of(iteration).kv_copies,
              iteration.phase == Phase::decode ? kColdCopies : 1);
  }
}

TEST(CollectiveOf, KnowsBothByNameOrType) {
  struct Case {
    const char* name;
    const char* type;
    const char* collective;
  };
  const Case cases[] = {
      {"all_reduce", "collective", "all_reduce"}, {"MLP_All_Reduce", "", "all_reduce"},
      {"send_recv", "p2p", "send_recv"},          {"Recv_hidden", "collective", "send_recv"},
      {"hand_over", "p2p", "send_recv"},          {"all_to_all", "collective", ""},
      {"all_gather", "collective", ""},           {"allreduce", "collective", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(collective_of(c.name, c.type), c.collective) << c.name;
  }
}

}  // namespace
}  // namespace pw
