// Model configs as people bring them. The names of these tests are those of the failure reports
// that they answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/model_config.h"
#include "pw/workload.h"
#include "support/error_of.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json decoder() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"hidden_size", 1024},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 2},
          {"intermediate_size", 2816},
          {"vocab_size", 50000},
          {"num_hidden_layers", 6},
          {"tie_word_embeddings", true},
          {"dtype", "bfloat16"}};
}

Json with(std::initializer_list<std::pair<const char*, Json>> fields) {
  Json json = decoder();
  for (const auto& [key, value] : fields) json[key] = value;
  return json;
}

Json without(const char* key, Json json = decoder()) {
  json.erase(key);
  return json;
}

ModelConfig read_text(const std::string& text) {
  const TemporaryFolder folder;
  return read_model_config(folder.file("config.json", text));
}
ModelConfig read(const Json& json) { return read_text(json.dump()); }
std::string error_for(const Json& json) {
  return error_of([&] { read(json); });
}
std::string error_for_text(const std::string& text) {
  return error_of([&] { read_text(text); });
}

Workload workload_of(const Json& json, std::int64_t tp = 1, std::int64_t pp = 1,
                     const Trace& trace = uniform_trace(2, 10, 3)) {
  WorkloadOptions options;
  options.tp_size = tp;
  options.pp_size = pp;
  return generate_workload(read(json), trace, options);
}

std::int64_t windowed_layers(const ModelConfig& model) {
  std::int64_t count = 0;
  for (const LayerGroup& group : model.layers) count += group.attention.window ? group.count : 0;
  return count;
}

// N and K of a GEMM in the first iteration.
std::pair<std::int64_t, std::int64_t> width_and_depth(const Workload& workload, const char* name) {
  const auto& gemm = problem_of<GemmConfig>(workload.steps[0], name);
  return {gemm.n, gemm.k};
}

using Shape = std::pair<std::int64_t, std::int64_t>;

Json in_tower(const char* key, const Json& inner) {
  return {{"architectures", {"DemoForConditionalGeneration"}},
          {"hidden_size", 320},
          {"num_hidden_layers", 3},
          {"vision_config", {{"hidden_size", 640}}},
          {key, without("architectures", inner)}};
}

TEST(HardInputs, A01TheDecoderOfAMultimodalModelAloneCounts) {
  for (const char* key : {"text_config", "llm_config", "language_config"}) {
    const Workload workload = workload_of(in_tower(key, with({{"head_dim", 96}})), 2);
    EXPECT_EQ(width_and_depth(workload, "qkv_proj"), Shape((4 + 2) * 96, 1024)) << key;
    EXPECT_EQ(width_and_depth(workload, "o_proj"), Shape(1024, 4 * 96));
    EXPECT_EQ(workload.steps[0].body->before_attention[0].calls, 6);
    EXPECT_EQ(workload.model.vocab_size, 50000);
    EXPECT_THAT(sentences(workload.facts),
                Contains(HasSubstr("only " + std::string(key) + " is summed")));
  }
  const Json omni = {
      {"architectures", {"DemoOmniModel"}},
      {"thinker_config", {{"audio_config", {{"d_model", 64}}}, {"text_config", decoder()}}}};
  EXPECT_EQ(read(omni).hidden_size, 1024);
  // Beside the fields of a vision tower.
  Json beside = with({{"vision_config", {{"hidden_size", 640}}}});
  beside["architectures"] = {"Qwen2VLForConditionalGeneration"};
  EXPECT_EQ(read(beside).hidden_size, 1024);
  EXPECT_THAT(sentences(read(beside).facts),
              Contains(HasSubstr("only the language model is summed")));
}

TEST(HardInputs, A01MixturesOfExpertsAreReadAndRefusedByName) {
  const struct {
    Json json;
    const char* field;
    const char* experts;
  } cases[] = {
      {in_tower(
           "text_config",
           with({{"num_experts", 48}, {"num_experts_per_tok", 4}, {"moe_intermediate_size", 512}})),
       "config.json: text_config.num_experts is 48", "48 experts, 4 of them per token"},
      {with({{"num_local_experts", 16}, {"num_experts_per_tok", 2}}), "num_local_experts is 16",
       "16 experts, 2 of them per token"},
      {with({{"n_routed_experts", 72}, {"n_shared_experts", 1}, {"num_experts_per_tok", 8}}),
       "n_routed_experts is 72", "72 experts, 8 of them per token"},
      {with({{"moe_num_experts", 24}, {"moe_topk", 3}}), "moe_num_experts is 24",
       "24 experts, 3 of them per token"},
      {with({{"architectures", {"DbrxForCausalLM"}},
             {"ffn_config", {{"moe_num_experts", 12}, {"moe_top_k", 5}}}}),
       "architectures is DbrxForCausalLM", "12 experts, 5 of them per token"},
      {with({{"architectures", {"DemoMoeForCausalLM"}}}), "architectures is DemoMoeForCausalLM",
       "a mixture of experts"},
  };
  for (const auto& item : cases) {
    const std::string error = error_for(item.json);
    EXPECT_THAT(error, AllOf(HasSubstr(item.field), HasSubstr("a mixture of experts"),
                             HasSubstr(item.experts), Not(HasSubstr("\n"))));
  }
  EXPECT_THAT(sentences(read(with({{"num_experts", nullptr}, {"n_routed_experts", 0}})).facts),
              IsEmpty());
}

TEST(HardInputs, A01OtherLayersAreRefusedWithAllReasons) {
  EXPECT_THAT(
      error_for(with({{"n_routed_experts", 72}, {"kv_lora_rank", 256}, {"qk_rope_head_dim", 32}})),
      AllOf(HasSubstr("n_routed_experts is 72"), HasSubstr("kv_lora_rank is 256"),
            HasSubstr("latent attention (MLA)")));
  const struct {
    const char* key;
    Json value;
    const char* reason;
  } cases[] = {
      {"q_lora_rank", 768, "latent attention"},
      {"hybrid_override_pattern", "M-M*", "state-space, linear-attention or hybrid"},
      {"linear_num_value_heads", 8, "state-space, linear-attention or hybrid"},
      {"layer_types", {"full_attention", "conv"}, "holds \"conv\""},
      {"model_type", "falcon_h1", "model_type is falcon_h1: a state-space"},
      {"architectures", {"Zamba2ForCausalLM"}, "architectures is Zamba2ForCausalLM: a state-space"},
      {"index_topk", 1024, "sparse attention"},
      {"v_head_dim", 64, "keys and values differ"},
      {"num_kv_shared_layers", 2, "layers differ from each other"},
  };
  for (const auto& item : cases) {
    EXPECT_THAT(error_for(with({{"head_dim", 128}, {item.key, item.value}})),
                HasSubstr(item.reason));
  }
}

TEST(HardInputs, A03AbsentNullOrEqualKeyValueHeadsAreOnePerHead) {
  for (const Json& json : {without("num_key_value_heads"), with({{"num_key_value_heads", nullptr}}),
                           with({{"num_key_value_heads", 8}})}) {
    const Workload workload = workload_of(json);
    EXPECT_EQ(width_and_depth(workload, "qkv_proj"), Shape((8 + 2 * 8) * 128, 1024));
    EXPECT_EQ(attention_of(workload.steps[0]).kv_heads, 8);
  }
}

TEST(HardInputs, A03OtherFamiliesNamesAreReadAndNoted) {
  const struct {
    const char* usual;
    const char* other;
    Json value;
  } cases[] = {
      {"num_key_value_heads", "num_kv_heads", 2},
      {"num_key_value_heads", "n_head_kv", 2},
      {"num_key_value_heads", "multi_query_group_num", 2},
      {"num_key_value_heads", "num_key_value_heads_per_layer", {2, 2, 2, 2, 2, 2}},
      {"hidden_size", "n_embd", 1024},
      {"num_hidden_layers", "num_layers", 6},
      {"intermediate_size", "ffn_hidden_size", 2816},
      {"vocab_size", "padded_vocab_size", 50000},
  };
  const Workload usual = workload_of(decoder());
  for (const auto& item : cases) {
    Json json = without(item.usual);
    json[item.other] = item.value;
    const Workload workload = workload_of(json);
    EXPECT_EQ(workload_json(workload, true), workload_json(usual, true)) << item.other;
    EXPECT_THAT(sentences(workload.facts),
                Contains(std::string(item.other) + " is read as " + item.usual));
  }
  EXPECT_THAT(sentences(read(with({{"num_kv_heads", 4}})).facts),
              Contains(HasSubstr("num_key_value_heads and num_kv_heads differ")));
}

TEST(HardInputs, A04HeadDimIsThatOfTheFile) {
  EXPECT_EQ(width_and_depth(workload_of(with({{"head_dim", 256}})), "qkv_proj").first, 12 * 256);
  EXPECT_EQ(width_and_depth(workload_of(with({{"head_dim", 256}})), "o_proj").second, 8 * 256);
  EXPECT_EQ(width_and_depth(workload_of(with({{"head_dim", 64}})), "o_proj").second, 8 * 64);
  EXPECT_EQ(width_and_depth(workload_of(with({{"head_dim", nullptr}})), "o_proj").second, 8 * 128);
  EXPECT_EQ(read(with({{"kv_channels", 160}})).layers[0].attention.head_dim, 160);
  EXPECT_THAT(error_for(with({{"hidden_size", 1030}})),
              AllOf(HasSubstr("hidden_size 1030"), HasSubstr("num_attention_heads 8"),
                    HasSubstr("give head_dim")));
}

TEST(HardInputs, A07EitherSpellingOfTheDtype) {
  const Json bare = without("dtype");
  Json old = bare;
  old["torch_dtype"] = "bfloat16";
  const std::string expected = workload_json(workload_of(decoder()), true);
  EXPECT_EQ(workload_json(workload_of(old), true), expected);
  EXPECT_EQ(workload_json(workload_of(bare), true), expected);
  EXPECT_THAT(sentences(read(old).facts), IsEmpty());
  EXPECT_THAT(sentences(read(bare).facts), Contains(HasSubstr("bfloat16 weights assumed")));
  EXPECT_THAT(sentences(read(with({{"dtype", "float16"}, {"torch_dtype", "bfloat16"}})).facts),
              Contains("dtype float16 and torch_dtype bfloat16 differ: dtype is used"));
}

TEST(HardInputs, A07Fp8WeightsMultiplyInFp8) {
  const Json group = {{"weights", {{"num_bits", 8}, {"type", "float"}}},
                      {"input_activations", {{"num_bits", 8}, {"type", "float"}}}};
  const Json methods[] = {
      {{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}},
      {{"quant_method", "fbgemm_fp8"}},
      {{"quant_method", "modelopt"}, {"quant_algo", "FP8"}},
      {{"quant_method", "compressed-tensors"}, {"config_groups", {{"group_0", group}}}},
  };
  for (const Json& method : methods) {
    const Workload workload = workload_of(with({{"quantization_config", method}}));
    for (const Op& op : workload.steps[0].body->before_attention) {
      EXPECT_EQ(operator_family(op.problem).name, op.name == "lm_head" ? "gemm" : "gemm_fp8")
          << method;
    }
    EXPECT_THAT(sentences(workload.facts), Contains(HasSubstr("fp8 GEMMs in all decoder blocks")));
    // The file keeps it.
    const TemporaryFolder folder;
    const Workload again = read_workload(folder.file("w.json", workload_json(workload, false)));
    EXPECT_TRUE(again.model.fp8);
    EXPECT_EQ(workload_json(again, false), workload_json(workload, false));
  }
}

TEST(HardInputs, A07OtherQuantisationsAreRefusedByName) {
  Json weight_only = {
      {"quant_method", "compressed-tensors"},
      {"config_groups", {{"group_0", {{"weights", {{"num_bits", 8}, {"type", "float"}}}}}}}};
  for (const Json& method : {Json{{"quant_method", "awq"}, {"bits", 4}},
                             Json{{"quant_method", "modelopt"}, {"quant_algo", "NVFP4"}},
                             Json{{"quant_method", "mxfp4"}}, weight_only, Json("fp8")}) {
    EXPECT_THAT(error_for(with({{"quantization_config", method}})),
                HasSubstr("quantization_config is given: "))
        << method;
  }
  EXPECT_THAT(sentences(read(with({{"quantization_config",
                                    {{"quant_method", "fp8"},
                                     {"kv_cache_scheme", {{"num_bits", 8}}},
                                     {"ignored_layers", {"lm_head", "model.layers.0.mlp"}}}}}))
                            .facts),
              AllOf(Contains(HasSubstr("kv_cache_scheme is ignored")),
                    Contains(HasSubstr("keeps 1 modules of decoder blocks in 16 bit"))));
}

TEST(HardInputs, A08KeyValueHeadsAreReplicatedOrTheSizesListed) {
  const Workload four = workload_of(decoder(), 4);  // 2 KV heads
  EXPECT_EQ(width_and_depth(four, "qkv_proj").first, (2 + 2 * 1) * 128);
  EXPECT_EQ(attention_of(four.steps[0]).query_heads, 2);
  EXPECT_EQ(attention_of(four.steps[0]).kv_heads, 1);
  EXPECT_THAT(error_of([] { workload_of(decoder(), 3); }),
              HasSubstr("valid tp_size values are 1, 2, 4, 8"));
  const Json three = with({{"num_attention_heads", 6},
                           {"num_key_value_heads", 3},
                           {"head_dim", 128},
                           {"intermediate_size", 3072}});
  EXPECT_THAT(error_of([&] { workload_of(three, 2); }),
              AllOf(HasSubstr("num_key_value_heads 3 is neither divisible by nor a divisor of 2"),
                    HasSubstr("valid tp_size values are 1, 3, 6")));
}

TEST(HardInputs, A10PipelineStagesLoseNoLayer) {
  const Workload workload = workload_of(with({{"num_hidden_layers", 43}}), 1, 4);
  EXPECT_THAT(sentences(workload.facts),
              Contains(HasSubstr("pipeline stages of 11, 11, 11, 10 layers")));
  EXPECT_EQ(workload.steps[0].body->before_attention[0].calls, 43);
  EXPECT_EQ(workload.steps[0].body->transfers[0].name, "send_recv");
  EXPECT_EQ(workload.steps[0].body->transfers[0].calls, 3);
  EXPECT_THAT(error_of([] { workload_of(decoder(), 1, 8); }),
              HasSubstr("pp_size 8 > num_hidden_layers 6"));
}

TEST(HardInputs, A12JsonTrapsAreReadOrNamed) {
  EXPECT_EQ(read_text("\xEF\xBB\xBF" + decoder().dump()).hidden_size, 1024);
  EXPECT_EQ(read(with({{"num_hidden_layers", 6.0}, {"rope_theta", 1e30}})).layers[0].count, 6);
  const struct {
    Json json;
    const char* message;
  } cases[] = {
      {with({{"num_hidden_layers", "6"}}), "num_hidden_layers is \"6\" (a string)"},
      {with({{"hidden_size", 1e30}}), "hidden_size is 1e+30"},
      {with({{"num_attention_heads", -8}}), "num_attention_heads is -8"},
      {with({{"num_hidden_layers", 6.5}}), "num_hidden_layers is 6.5"},
      {with({{"vocab_size", true}}), "vocab_size is true (a boolean)"},
  };
  for (const auto& item : cases) {
    EXPECT_THAT(error_for(item.json), AllOf(HasSubstr("config.json: "), HasSubstr(item.message)));
  }
  EXPECT_THAT(error_for_text("{\"hidden_size\": 64,\n\"x\": 1,\n\"hidden_size\": 128}"),
              HasSubstr("config.json:3: the key \"hidden_size\" occurs twice"));
  EXPECT_THAT(error_for_text("{\"a\": 1,\n\"eps\": NaN}"), HasSubstr("config.json:2: "));
}

TEST(HardInputs, A12CutFilesEndUnexpectedly) {
  const std::string text = decoder().dump(1);
  for (std::size_t length = 1; length < text.size(); ++length) {
    EXPECT_THAT(error_for_text(text.substr(0, length)), HasSubstr("unexpected end")) << length;
  }
}

TEST(HardInputs, ModelConfigsWithListsPerLayer) {
  EXPECT_EQ(
      read(with({{"intermediate_size", {2816, 2816, 2816, 2816, 2816, 2816}}})).layers[0].mlp.width,
      2816);
  EXPECT_THAT(error_for(with({{"intermediate_size", {2816, 5632}}})),
              HasSubstr("intermediate_size is a list with values from 2816 to 5632"));
  EXPECT_THAT(error_for(with({{"num_key_value_heads", Json::array()}})), HasSubstr("no values"));
  EXPECT_THAT(error_for(with({{"hidden_act_per_layer", {"silu", "relu"}}})),
              HasSubstr("hidden_act_per_layer has different values"));
}

TEST(HardInputs, ModelConfigsWithWindowsWarnOfLongerContexts) {
  const Trace trace{"t", {{100, 20}, {600, 20}}, {}};
  const Json mixed = with({{"sliding_window", 512},
                           {"max_position_embeddings", 8192},
                           {"layer_types",
                            {"sliding_attention", "sliding_attention", "full_attention",
                             "sliding_attention", "sliding_attention", "full_attention"}}});
  EXPECT_THAT(sentences(workload_of(mixed, 1, 1, trace).facts),
              Contains(HasSubstr("1 of 2 requests exceed the sliding_window of 512 tokens in 4 of "
                                 "6 layers")));
  const Json pattern = with({{"sliding_window", 512}, {"sliding_window_pattern", 3}});
  EXPECT_EQ(windowed_layers(read(pattern)), 4);
  const Json all = with({{"sliding_window", 512}});
  EXPECT_EQ(windowed_layers(read(all)), 6);
  const Json first =
      with({{"sliding_window", 512}, {"use_sliding_window", true}, {"max_window_layers", 5}});
  EXPECT_EQ(windowed_layers(read(first)), 1);
  for (const Json& unused :
       {with({{"sliding_window", 512}, {"use_sliding_window", false}}),
        with({{"sliding_window", 512}, {"max_position_embeddings", 512}}),
        with({{"sliding_window", 512}, {"use_sliding_window", true}, {"max_window_layers", 6}}),
        with({{"sliding_window", nullptr}})}) {
    EXPECT_EQ(windowed_layers(read(unused)), 0) << unused;
  }
  const Trace inside{"t", {{100, 20}}, {}};
  EXPECT_THAT(sentences(workload_of(mixed, 1, 1, inside).facts),
              Each(Not(HasSubstr("sliding_window"))));
}

TEST(HardInputs, ModelConfigsTellTheLongestContext) {
  const struct {
    Json json;
    std::optional<std::int64_t> tokens;
  } cases[] = {
      {decoder(), std::nullopt},
      {with({{"max_position_embeddings", 4096}}), 4096},
      {with({{"seq_length", 2048}}), 2048},
      {with({{"max_position_embeddings", 1e30}}), std::nullopt},
      {with({{"max_position_embeddings", 4096},
             {"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}}),
       8192},
      {with({{"max_position_embeddings", 16384},
             {"rope_scaling",
              {{"rope_type", "yarn"},
               {"factor", 4.0},
               {"original_max_position_embeddings", 4096}}}}),
       16384},
      {with({{"max_position_embeddings", 131072},
             {"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}}}),
       131072},
  };
  for (const auto& item : cases) EXPECT_EQ(read(item.json).max_context, item.tokens) << item.json;
}

}  // namespace
}  // namespace pw
