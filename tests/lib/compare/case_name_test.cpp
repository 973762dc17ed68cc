#include "compare/case_name.h"

#include <gtest/gtest.h>

#include "lib/compare/comparison_fixture.h"

namespace pw {
namespace {

struct Parsed {
  const char* stem;
  const char* engine;
  const char* model;
  const char* trace;
  const char* kernel;
  int tp, pp;
  const char* gpu;
};

TEST(CaseName, ReadsTheFormOfPublishedNames) {
  const Parsed cases[] = {
      {"Qwen2.5-14B_arxiv_8_fa2_tp1_pp1_A100", "sglang", "Qwen2.5-14B", "arxiv_8", "fa2", 1, 1,
       "A100"},
      {"Qwen3-32B_splitwise_48_fa2_tp2_pp1_RTX_PRO_6000_S_linear", "sglang", "Qwen3-32B",
       "splitwise_48", "fa2", 2, 1, "RTX_PRO_6000_S"},
      {"Llama-3.1-70B_vllm_arxiv16_fa3_tp4_pp2_H20_habitat", "vllm", "Llama-3.1-70B", "arxiv16",
       "fa3", 4, 2, "H20"},
      {"my_model_arxiv_fa3_tp8_pp4_H20", "sglang", "my_model", "arxiv", "fa3", 8, 4, "H20"},
      {"Demo-7B_requests_2024_auto_tp1_pp1_L40", "sglang", "Demo-7B", "requests_2024", "auto", 1, 1,
       "L40"},
      {"Demo-7B_arxiv_1_tp2_B200", "sglang", "Demo-7B", "arxiv_1", "unknown", 2, 1, "B200"},
  };
  for (const Parsed& expected : cases) {
    const auto name = parse_case_name(expected.stem);
    ASSERT_TRUE(name) << expected.stem;
    EXPECT_EQ(name->label, expected.stem);
    EXPECT_EQ(name->engine, expected.engine) << expected.stem;
    EXPECT_EQ(name->model, expected.model) << expected.stem;
    EXPECT_EQ(name->trace, expected.trace) << expected.stem;
    EXPECT_EQ(name->kernel, expected.kernel) << expected.stem;
    EXPECT_EQ(name->tp, expected.tp) << expected.stem;
    EXPECT_EQ(name->pp, expected.pp) << expected.stem;
    EXPECT_EQ(name->gpu, expected.gpu) << expected.stem;
  }
}

TEST(CaseName, OtherTextsTellNothing) {
  for (const char* stem : {"", "pred", "a_b", "Demo_arxiv_8_A100", "Demo_arxiv_8_fa2_tp1_pp1",
                           "fa2_tp1_A100", "Demo_linear"}) {
    EXPECT_FALSE(parse_case_name(stem)) << stem;
  }
}

TEST(CaseName, SizesAreWholeNumbersAboveZero) {
  std::int64_t size = 7;
  EXPECT_TRUE(parse_size("tp16", "tp", size));
  EXPECT_EQ(size, 16);
  for (const char* part : {"tp", "tp0", "tp-1", "tp2x", "pp2", "xtp2", "tp99999999999999999999"}) {
    EXPECT_FALSE(parse_size(part, "tp", size)) << part;
  }
  EXPECT_EQ(size, 16);
}

TEST(CaseName, GpusAreCalledByTheirStem) {
  const HardwareCatalog catalog = shipped_catalog();
  EXPECT_EQ(gpu_name("NVIDIA A100-SXM4-80GB", catalog), "A100");
  EXPECT_EQ(gpu_name("RTX_6000_Ada", catalog), "RTX_6000_Ada");
  EXPECT_EQ(gpu_name("rtx 6000 ada generation", catalog), "RTX_6000_Ada");
  EXPECT_EQ(gpu_name("Some GPU", catalog), "Some_GPU");
}

TEST(CaseName, NamesOfRunsAndModels) {
  CaseName name;
  name.model = "my_model-7B";
  name.trace = "arxiv_16";
  EXPECT_EQ(run_name_of(name), "my-model-7B-arxiv_16");
  EXPECT_EQ(vllm_model_tag("Llama-3.1-70B"), "llama70b");
  EXPECT_EQ(vllm_model_tag("Qwen2.5-14B"), "qwen14b");
  EXPECT_EQ(vllm_model_tag("gpt2"), "gpt");
}

}  // namespace
}  // namespace pw
