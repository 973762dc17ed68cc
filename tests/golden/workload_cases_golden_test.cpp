#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/workload.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/steps.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Failure reports about other tools: cases/INDEX.md of the reference material.

TEST(WorkloadCases, RefusesBadWorkloadsByName) {
  PW_REFERENCE_OR_SKIP(reference);
  struct Bad {
    const char* file;
    std::vector<const char*> messages;
  };
  const Bad cases[] = {
      {"F01/zero.json", {"iterations[0].operators.gemm[0] (m0).M is 0"}},
      {"F01/neg.json", {"iterations[0].operators.gemm[0] (kneg).K is -1"}},
      {"F02/kv0.json", {"iterations[0].kv_lengths[0] is 0"}},
      {"F02/q0.json", {"iterations[0].q_lengths[0] is 0"}},
      {"F02/empty_batch.json", {"iterations[0].q_lengths is empty"}},
      {"F02/bs_mismatch.json", {"iterations[0].operators.attention", "has 2 entries", "bs = 3"}},
      {"F08/workload.json", {"mystery_op", "all_to_all"}},
      {"F08/bad_phase.json", {"\"warmup\", expected prefill or decode"}},
      {"F08/no_iterations.json", {"iterations is empty"}},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.file);
    const fs::path path = reference / "cases" / bad.file;
    const std::string message = error_of([&] { read_workload(path); });
    EXPECT_THAT(message, HasSubstr(path.string()));
    for (const char* part : bad.messages) {
      EXPECT_THAT(message, HasSubstr(part));
    }
  }
}

TEST(WorkloadCases, ReadsTinyAndHugeWorkloads) {
  PW_REFERENCE_OR_SKIP(reference);
  const fs::path cases = reference / "cases";
  EXPECT_EQ(read_workload(cases / "F01/workload.json").steps[0].body->before_attention.size(), 5u);
  EXPECT_EQ(read_workload(cases / "F01/count0.json").steps[0].body->before_attention[0].calls, 0);
  EXPECT_EQ(read_workload(cases / "F06/batch5000.json").steps[0].batch.q_lengths.size(), 5000u);
  const Step million = read_workload(cases / "F06/seq1M.json").steps[0];
  const auto& gate_up = std::get<GemmConfig>(million.body->before_attention[0].problem);
  EXPECT_EQ(2 * gate_up.m * gate_up.n * gate_up.k, 985162418487296);
  EXPECT_EQ(million.body->transfers[0].volume_bytes, 17179869184);
}

TEST(TraceCases, ReadsOrRefuses) {
  PW_REFERENCE_OR_SKIP(reference);
  const fs::path cases = reference / "cases";
  const Trace azure = read_trace(cases / "B01/azure_like.csv");
  ASSERT_EQ(azure.requests.size(), 5u);
  EXPECT_EQ(azure.requests[1].input_tokens, 7435);
  EXPECT_EQ(azure.requests[4].output_tokens, 1);
  EXPECT_EQ(read_trace(cases / "B01/azure2024_like.csv").requests.size(), 3u);
  EXPECT_EQ(read_trace(cases / "B04/crlf_uniform.csv").requests[1].output_tokens, 3);
  EXPECT_EQ(read_trace(cases / "B04/crlf_mixed_outputs.csv").requests[2].output_tokens, 97);
  EXPECT_EQ(read_trace(cases / "B06/blank_lines.csv").requests.size(), 1u);
  struct Bad {
    const char* file;
    const char* message;
  };
  const Bad bad_files[] = {
      {"B05/odd_rows.csv",
       "line 5: num_prefill_tokens is \"0\" (zero), line 6: num_prefill_tokens is \"-3\" "
       "(negative), "
       "line 7: num_prefill_tokens is \"12.5\" (a fraction), line 8: num_prefill_tokens is empty, "
       "line 9: num_prefill_tokens is \"9999999999\" (too large); expected"},
      {"B06/sharegpt_like.json", "no token lengths, CSV or JSON lines expected"},
      {"B06/empty.csv", "empty"},
      {"B06/header_only.csv", "no data rows"},
  };
  for (const Bad& bad : bad_files) {
    EXPECT_THAT(error_of([&] { read_trace(cases / bad.file); }), HasSubstr(bad.message));
  }
}

TEST(GeneratorCases, SplitsOrRefusesModels) {
  PW_REFERENCE_OR_SKIP(reference);
  const fs::path cases = reference / "cases";
  const auto generate = [&](const char* config, std::int64_t tp_size, std::int64_t pp_size) {
    WorkloadOptions options;
    options.tp_size = tp_size;
    options.pp_size = pp_size;
    return generate_workload(read_model_config(cases / config), uniform_trace(1, 64, 1), options);
  };
  const Step kv2 = generate("A08/kv2.json", 4, 1).steps[0];
  EXPECT_EQ(std::get<GemmConfig>(kv2.body->before_attention[0].problem).n, 768);
  EXPECT_EQ(attention_of(kv2).query_heads, 4);
  EXPECT_EQ(attention_of(kv2).kv_heads, 1);
  EXPECT_THAT(error_of([&] { generate("A08/kv2.json", 3, 1); }), HasSubstr("1, 2, 4, 8, 16"));
  EXPECT_THAT(error_of([&] { generate("A08/kv3.json", 2, 1); }),
              HasSubstr("num_key_value_heads 3 is neither divisible by nor a divisor of 2"));
  const Step layers61 = generate("A10/config61.json", 1, 4).steps[0];
  EXPECT_EQ(layers61.body->before_attention[0].calls, 61);
  EXPECT_EQ(layers61.body->transfers[0].calls, 3);
  EXPECT_THAT(error_of([&] { generate("A10/config5.json", 1, 7); }),
              HasSubstr("pp_size 7 > num_hidden_layers 5"));
}

TEST(GeneratorCases, KeepsAMillionTokensExact) {
  PW_REFERENCE_OR_SKIP(reference);
  const ModelConfig model = read_model_config(reference / "cases/A10/config5.json");
  WorkloadOptions options;
  options.tp_size = 2;
  const Workload workload =
      generate_workload(model, read_trace(reference / "cases/F06/trace_1M.csv"), options);
  EXPECT_EQ(num_tokens(workload.steps[0].batch), 3145728);
  EXPECT_EQ(workload.steps[0].body->transfers[0].volume_bytes, 12884901888);
  EXPECT_EQ(workload.steps.size(), 2u);
}

}  // namespace
}  // namespace pw
