// What models consist of: totals of parameters as their publishers count them, and what layouts
// other than Llama's cost.

#include "pw/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/workload.h"
#include "support/built.h"
#include "support/error_of.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ModelConfig shipped_model(const std::string& name) {
  return read_model_config(find_model_config(name, source_folder() / "config"));
}

// Parameters: the number of elements in the publishers' checkpoints on Hugging Face. KV bytes: two
// matrices of KV heads x head_dim per layer, 2 bytes.
TEST(Decoder, HasThePublishedTotals) {
  const struct {
    const char* model;
    std::int64_t parameters, kv_bytes_per_token;
  } cases[] = {
      {"GPT-2", 124'439'808, 36'864},
      {"GPT-2-XL", 1'557'611'200, 307'200},
      {"GPT-J-6B", 6'050'882'784, 458'752},
      {"GPT-NeoX-20B", 20'554'567'680, 1'081'344},
      {"BLOOM-176B", 176'247'271'424, 4'014'080},
      {"OPT-6.7B", 6'658'473'984, 524'288},
      {"Falcon-7B", 6'921'720'704, 8'192},
      {"Falcon-40B", 41'303'293'952, 122'880},
      {"Phi-2", 2'779'683'840, 327'680},
      {"Llama-3-8B", 8'030'261'248, 131'072},
      {"Llama-3.1-70B", 70'553'706'496, 327'680},
      {"Qwen2.5-14B", 14'770'033'664, 196'608},
      {"Qwen3-14B", 14'768'307'200, 163'840},
      {"Qwen3-32B", 32'762'123'264, 262'144},
  };
  for (const auto& item : cases) {
    const ModelConfig model = shipped_model(item.model);
    EXPECT_EQ(parameters(model), item.parameters) << item.model;
    EXPECT_EQ(kv_bytes_per_token(model), item.kv_bytes_per_token) << item.model;
  }
}

Workload workload_of(const ModelConfig& model, std::int64_t tp_size = 1) {
  WorkloadOptions options;
  options.tp_size = tp_size;
  return generate_workload(model, uniform_trace(2, 100, 2), options);
}

std::vector<std::string> gemm_names(const Step& step) {
  std::vector<std::string> names;
  for (const Op& op : step.body->before_attention) names.push_back(op.name);
  return names;
}

TEST(Decoder, AnMlpWithoutGateHasTwoMatricesOfItsWidth) {
  const Step step = workload_of(shipped_model("GPT-2")).steps[0];
  EXPECT_THAT(gemm_names(step),
              ElementsAre("qkv_proj", "o_proj", "up_proj", "down_proj", "lm_head"));
  const auto& up = problem_of<GemmConfig>(step, "up_proj");
  EXPECT_EQ((std::vector{up.m, up.n, up.k}), (std::vector<std::int64_t>{200, 4 * 768, 768}));
  EXPECT_EQ(op_of(step, "up_proj").calls, 12);
  const auto& activation = problem_of<SiluMulConfig>(step, "siluandmul");
  EXPECT_FALSE(activation.gated);
  EXPECT_EQ(activation.dim, 4 * 768);
  EXPECT_EQ(work(activation).bytes, 2.0 * 2 * 200 * 4 * 768);  // each element read and written
  EXPECT_EQ(op_of(step, "rmsnorm").calls, 2 * 12 + 1);
}

// A block of attention beside the MLP ends with one sum over the GPUs, one after the other with
// two.
TEST(Decoder, BlocksSideBySideHaveOneAllReduce) {
  const auto calls = [](const char* model) {
    return workload_of(shipped_model(model), 2).steps[0].body->transfers.at(0).calls;
  };
  EXPECT_EQ(calls("GPT-J-6B"), 28);
  EXPECT_EQ(calls("GPT-NeoX-20B"), 44);
  EXPECT_EQ(calls("BLOOM-176B"), 2 * 70);
  EXPECT_EQ(op_of(workload_of(shipped_model("GPT-J-6B")).steps[0], "rmsnorm").calls, 28 + 1);
  EXPECT_EQ(op_of(workload_of(shipped_model("BLOOM-176B")).steps[0], "rmsnorm").calls, 2 * 70 + 2);
}

// Three numbers of KV heads in one model, as DeciLM has; the dimensions are DeciLM-7B's, the list
// is made up.
TEST(Decoder, LayersMayDiffer) {
  Json json = {{"architectures", {"DeciLMForCausalLM"}},
               {"hidden_size", 4096},
               {"num_attention_heads", 32},
               {"intermediate_size", 14336},
               {"vocab_size", 32000},
               {"num_hidden_layers", 6},
               {"num_key_value_heads_per_layer", {4, 4, 2, 4, 1, 2}},
               {"tie_word_embeddings", false},
               {"torch_dtype", "bfloat16"}};
  const TemporaryFolder folder;
  const auto read = [&] { return read_model_config(folder.file("DeciLM.json", json.dump())); };
  const ModelConfig model = read();
  ASSERT_EQ(model.layers.size(), 3u);
  EXPECT_EQ(kv_bytes_per_token(model), 2 * 2 * 128 * (3 * 4 + 2 * 2 + 1));
  EXPECT_EQ(parameters(model), 2 * 32000LL * 4096 + 4096 +
                                   6 * (2 * 4096LL * 4096 + 3 * 4096LL * 14336 + 2 * 4096) +
                                   17 * 2 * 4096LL * 128);
  const Workload workload = workload_of(model);
  const Step& step = workload.steps[0];
  EXPECT_THAT(gemm_names(step), ElementsAre("qkv_proj", "o_proj", "gate_up_proj", "down_proj",
                                            "qkv_proj_2", "qkv_proj_3", "lm_head"));
  EXPECT_EQ(op_of(step, "o_proj").calls, 6);
  EXPECT_EQ(op_of(step, "qkv_proj_2").calls, 2);
  ASSERT_EQ(step.attention.size(), 3u);
  EXPECT_EQ(step.attention[2].name, "attention_3");
  EXPECT_EQ(step.attention[2].calls, 1);
  // A file tells it all.
  const auto path = folder.file("w.json", workload_json(workload, false));
  EXPECT_EQ(workload_json(read_workload(path), false), workload_json(workload, false));
  EXPECT_EQ(parameters(read_workload(path).model), parameters(model));

  json["num_key_value_heads_per_layer"] = {4, 2};
  EXPECT_THAT(error_of(read), HasSubstr("has 2 values, expected one for each of 6 layers"));
  json["num_key_value_heads_per_layer"] = {4, 4, 0, 4, 4, 4};
  EXPECT_THAT(error_of(read), HasSubstr("holds 0, expected at least 1"));
}

TEST(Decoder, FilesKeepOtherLayouts) {
  for (const char* name : {"GPT-2", "GPT-J-6B", "BLOOM-176B", "OPT-6.7B", "Falcon-40B", "Phi-2"}) {
    const Workload workload = workload_of(shipped_model(name));
    const TemporaryFolder folder;
    const Workload again = read_workload(folder.file("w.json", workload_json(workload, false)));
    EXPECT_EQ(workload_json(again, false), workload_json(workload, false)) << name;
    EXPECT_EQ(parameters(again.model), parameters(workload.model)) << name;
  }
}

TEST(Decoder, WhatALayoutCannotHaveIsRefused) {
  const TemporaryFolder folder;
  const auto error = [&](const char* name, const char* key, const Json& value) {
    Json json = read_json(find_model_config(name, source_folder() / "config"));
    json[key] = value;
    return error_of([&] { read_model_config(folder.file("m.json", json.dump())); });
  };
  EXPECT_THAT(error("OPT-6.7B", "word_embed_proj_dim", 512),
              HasSubstr("word_embed_proj_dim is 512"));
  EXPECT_THAT(error("Phi-2", "qk_layernorm", true), HasSubstr("qk_layernorm is true"));
  EXPECT_THAT(error("Falcon-7B", "alibi", 1), HasSubstr("alibi is 1, expected true or false"));
  EXPECT_THAT(error("GPT-2", "n_positions", 0), HasSubstr("n_positions is 0"));
}

TEST(Decoder, DescribesItsLayers) {
  EXPECT_THAT(
      describe_layers(shipped_model("Llama-3-8B")),
      ElementsAre("32 layers: 32 heads of 128, 8 KV heads, gated MLP of 14336, 2 RMSNorms"));
  EXPECT_THAT(describe_layers(shipped_model("GPT-J-6B")),
              ElementsAre("28 layers: 16 heads of 256, 16 KV heads, beside a plain MLP of 16384, 1 "
                          "layer norm"));
}

}  // namespace
}  // namespace pw
