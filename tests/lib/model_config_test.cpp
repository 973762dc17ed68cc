#include "pw/model_config.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/data_paths.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

Json dense() {
  return parse_json(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
      "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 8,
      "intermediate_size": 5632, "vocab_size": 32000, "num_hidden_layers": 4,
      "max_position_embeddings": 8192, "hidden_act": "silu", "tie_word_embeddings": false,
      "dtype": "bfloat16"})",
                    "dense");
}

Json with(const std::string& key, const Json& value) {
  Json json = dense();
  json[key] = value;
  return json;
}

Json without(const std::string& key) {
  Json json = dense();
  json.erase(key);
  return json;
}

ModelConfig read(const Json& json) {
  const TemporaryFolder folder;
  return read_model_config(folder.file("Demo-1.5B.json", json.dump()));
}

std::string error_for(const Json& json) {
  return error_of([&] { read(json); });
}

TEST(ReadModelConfig, ReadsADenseDecoder) {
  const ModelConfig config = read(dense());
  EXPECT_EQ(config.stem, "Demo-1.5B");
  EXPECT_EQ(config.architecture, "LlamaForCausalLM");
  EXPECT_EQ(config.hidden_size, 2048);
  EXPECT_EQ(config.layers[0].attention.heads, 16);
  EXPECT_EQ(config.layers[0].attention.kv_heads, 8);
  EXPECT_EQ(config.layers[0].attention.head_dim, 128);
  EXPECT_EQ(config.layers[0].mlp.width, 5632);
  EXPECT_EQ(config.vocab_size, 32000);
  EXPECT_EQ(config.layers[0].count, 4);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_THAT(sentences(config.facts), IsEmpty());
}

TEST(ReadModelConfig, AbsentOrNullKeyValueHeadsMeanOnePerHead) {
  EXPECT_EQ(read(without("num_key_value_heads")).layers[0].attention.kv_heads, 16);
  EXPECT_EQ(read(with("num_key_value_heads", nullptr)).layers[0].attention.kv_heads, 16);
  EXPECT_THAT(error_for(with("num_key_value_heads", 3)),
              HasSubstr("num_key_value_heads is 3, expected a divisor of num_attention_heads 16"));
}

TEST(ReadModelConfig, HeadDimIsGivenOrExact) {
  EXPECT_EQ(read(with("head_dim", 96)).layers[0].attention.head_dim, 96);
  EXPECT_EQ(read(with("head_dim", nullptr)).layers[0].attention.head_dim, 128);
  EXPECT_EQ(read(with("hidden_size", 4096.0)).layers[0].attention.head_dim, 256);
  EXPECT_THAT(error_for(with("hidden_size", 2050)),
              AllOf(HasSubstr("head_dim"), HasSubstr("hidden_size 2050"),
                    HasSubstr("num_attention_heads 16")));
}

TEST(ReadModelConfig, DimensionsAreRequiredPositiveIntegers) {
  for (const char* key : {"hidden_size", "num_attention_heads", "intermediate_size", "vocab_size",
                          "num_hidden_layers"}) {
    const std::string field = std::string("Demo-1.5B.json: ") + key;
    EXPECT_THAT(error_for(without(key)), HasSubstr(field + " is missing"));
    EXPECT_THAT(error_for(with(key, nullptr)), HasSubstr(field));
    EXPECT_THAT(error_for(with(key, 0)), HasSubstr(field + " is 0"));
    EXPECT_THAT(error_for(with(key, -16)), HasSubstr(field + " is -16"));
    EXPECT_THAT(error_for(with(key, 4.5)), HasSubstr(field + " is 4.5"));
    EXPECT_THAT(error_for(with(key, "4")), HasSubstr(field + " is \"4\""));
    EXPECT_THAT(error_for(with(key, 1e30)), HasSubstr(field + " is 1e+30"));
    EXPECT_THAT(error_for(with(key, 2147483648)), HasSubstr("expected at most 2147483647"));
    EXPECT_THAT(
        error_for(with(key, {8, 4})),
        HasSubstr(field + " is a list with values from 4 to 8, one per layer (architecture Llama"));
  }
}

TEST(ReadModelConfig, TheNameIsThePathElseTheArchitecture) {
  EXPECT_EQ(read(with("_name_or_path", "org/Demo")).architecture, "org/Demo");
  EXPECT_EQ(read(with("_name_or_path", "")).architecture, "LlamaForCausalLM");
  const ModelConfig unknown = read(without("architectures"));
  EXPECT_EQ(unknown.architecture, "unknown");
  EXPECT_THAT(sentences(unknown.facts), ElementsAre(HasSubstr("no architectures given")));
  EXPECT_THAT(error_for(with("architectures", "Llama")), HasSubstr("expected a list of names"));
}

TEST(ReadModelConfig, ReadsTheTextConfigAlone) {
  Json json = {{"architectures", {"DemoForConditionalGeneration"}},
               {"hidden_size", 64},
               {"num_hidden_layers", 2},
               {"text_config", dense()}};
  json["text_config"].erase("architectures");
  const ModelConfig config = read(json);
  EXPECT_EQ(config.hidden_size, 2048);
  EXPECT_EQ(config.layers[0].count, 4);
  EXPECT_EQ(config.architecture, "DemoForConditionalGeneration");
  EXPECT_THAT(sentences(config.facts), Contains(HasSubstr("only text_config is summed")));

  json["text_config"].erase("hidden_size");
  EXPECT_THAT(error_for(json), HasSubstr("text_config.hidden_size is missing"));
  json["text_config"]["num_experts"] = 64;
  EXPECT_THAT(error_for(json), HasSubstr("text_config.num_experts is 64"));
  json["text_config"] = dense();
  json["quantization_config"] = {{"quant_method", "gptq"}};
  EXPECT_THAT(error_for(json), HasSubstr("quantization_config is given: gptq weights"));
  json["text_config"] = 7;
  EXPECT_THAT(error_for(json), HasSubstr("text_config is 7"));
}

TEST(ReadModelConfig, RefusesWhatIsNoDenseGatedDecoder) {
  const struct {
    const char* key;
    Json value;
    const char* message;
  } cases[] = {
      {"num_experts", 64, "num_experts is 64: a mixture of experts"},
      {"num_local_experts", 8, "num_local_experts is 8: a mixture of experts"},
      {"n_routed_experts", 160, "n_routed_experts is 160: a mixture of experts"},
      {"moe_intermediate_size", 768, "moe_intermediate_size is 768: a mixture of experts"},
      {"first_k_dense_replace", 3, "first_k_dense_replace is 3: a mixture of experts"},
      {"mlp_only_layers", Json::array({0}), "mlp_only_layers is a list: a mixture of experts"},
      {"kv_lora_rank", 512, "kv_lora_rank is 512: latent attention"},
      {"q_lora_rank", 1536, "q_lora_rank is 1536: latent attention"},
      {"mamba_d_state", 16, "mamba_d_state is 16: a state-space"},
      {"ssm_cfg", {{"d_state", 16}}, "ssm_cfg is an object: a state-space"},
      {"linear_num_key_heads", 16, "linear_num_key_heads is 16: a state-space"},
      {"linear_attn_config", {{"num_heads", 4}}, "linear_attn_config is an object: a state-space"},
      {"layers_block_type", {"attention", "mamba"}, "layers_block_type is a list: a state-space"},
      {"full_attention_interval", 4, "full_attention_interval is 4: a state-space"},
      {"layer_types",
       {"full_attention", "linear_attention"},
       "layer_types holds \"linear_attention\""},
      {"layer_types", "full_attention", "layer_types is no list"},
      {"block_configs", {{{"attention", 1}}}, "block_configs is a list: a model whose layers"},
      {"is_encoder_decoder", true, "is_encoder_decoder is true"},
      {"architectures", {"GPTNeoForCausalLM"}, "architectures is GPTNeoForCausalLM: its MLP"},
      {"architectures", {"Starcoder2ForCausalLM"}, "Starcoder2ForCausalLM: its MLP has no gate"},
      {"architectures", {"BertForMaskedLM"}, "architectures is BertForMaskedLM: no ...ForCausalLM"},
      {"quantization_config", {{"quant_method", "awq"}}, "quantization_config is given: awq"},
      {"dtype", "float32", "dtype is 'float32'"},
      {"dtype", "auto", "dtype is 'auto'"},
      {"tie_word_embeddings", "no", "tie_word_embeddings is \"no\", expected true or false"},
  };
  for (const auto& item : cases) {
    const std::string error = error_for(with(item.key, item.value));
    EXPECT_THAT(error, AllOf(HasSubstr("Demo-1.5B.json: "), HasSubstr(item.message)));
    EXPECT_THAT(error, testing::Not(HasSubstr("\n")));
  }
  EXPECT_THAT(error_for(with("num_experts", 64)),
              AllOf(HasSubstr("(architecture LlamaForCausalLM)"), HasSubstr("supported are")));
  Json unnamed = without("architectures");
  unnamed["model_type"] = "mpt";
  EXPECT_THAT(error_for(unnamed), HasSubstr("model_type is mpt: its MLP has no gate"));
  EXPECT_THAT(error_for(Json::array({1})), HasSubstr("expected an object"));
}

TEST(ReadModelConfig, AcceptsFieldsThatAreSwitchedOff) {
  const struct {
    const char* key;
    Json value;
  } cases[] = {
      {"num_experts", 0},
      {"num_local_experts", nullptr},
      {"mlp_only_layers", Json::array()},
      {"moe_layers", false},
      {"kv_lora_rank", nullptr},
      {"is_encoder_decoder", false},
      {"quantization_config", nullptr},
      {"text_config", nullptr},
      {"layer_types", {"full_attention", "full_attention"}},
      {"sliding_window", nullptr},
      {"sliding_window", 8192},
      {"rope_scaling", {{"factor", 8.0}}},
      {"max_position_embeddings", 1e30},
  };
  for (const auto& item : cases)
    EXPECT_THAT(sentences(read(with(item.key, item.value)).facts), IsEmpty());
}

TEST(ReadModelConfig, NotesWhatItAssumes) {
  const struct {
    Json json;
    const char* note;
  } cases[] = {
      {with("architectures", {"DemoForCausalLM"}),
       "architecture DemoForCausalLM is not one of Llama, Mistral, Phi3, Qwen2, Qwen3: summed as a "
       "dense decoder with gated MLP"},
      {without("dtype"), "no dtype or torch_dtype given: bfloat16 weights assumed"},
      {with("torch_dtype", "float32"),
       "dtype bfloat16 and torch_dtype float32 differ: dtype is used"},
      {with("hidden_act", "gelu_pytorch_tanh"), "hidden_act gelu_pytorch_tanh is timed as silu"},
      {without("tie_word_embeddings"),
       "no tie_word_embeddings given: separate embedding and lm_head weights assumed"},
  };
  for (const auto& item : cases)
    EXPECT_THAT(sentences(read(item.json).facts), ElementsAre(item.note));
}

TEST(ReadModelConfig, ReadsEitherSpellingOfTheDtype) {
  Json json = without("dtype");
  json["torch_dtype"] = "torch.float16";
  EXPECT_THAT(sentences(read(json).facts), IsEmpty());
  json["torch_dtype"] = "float32";
  EXPECT_THAT(error_for(json), HasSubstr("torch_dtype is 'float32'"));
}

TEST(ShippedConfigs, HaveTheModelsDimensions) {
  const struct {
    const char* stem;
    const char* architecture;
    std::int64_t hidden, heads, kv_heads, head_dim, intermediate, vocab, layers;
  } cases[] = {
      {"Llama-3-8B", "LlamaForCausalLM", 4096, 32, 8, 128, 14336, 128256, 32},
      {"Llama-3.1-8B", "LlamaForCausalLM", 4096, 32, 8, 128, 14336, 128256, 32},
      {"Llama-3-70B", "LlamaForCausalLM", 8192, 64, 8, 128, 28672, 128256, 80},
      {"Llama-3.1-70B", "LlamaForCausalLM", 8192, 64, 8, 128, 28672, 128256, 80},
      {"Qwen2-72B", "Qwen2ForCausalLM", 8192, 64, 8, 128, 29568, 152064, 80},
      {"Qwen2.5-14B", "Qwen2ForCausalLM", 5120, 40, 8, 128, 13824, 152064, 48},
      {"Qwen2.5-32B", "Qwen2ForCausalLM", 5120, 40, 8, 128, 27648, 152064, 64},
      {"Qwen3-14B", "Qwen3ForCausalLM", 5120, 40, 8, 128, 17408, 151936, 40},
      {"Qwen3-32B", "Qwen3ForCausalLM", 5120, 64, 8, 128, 25600, 151936, 64},
  };
  const fs::path folder = find_data_folder("config", std::nullopt);
  for (const auto& item : cases) {
    const ModelConfig config = read_model_config(find_model_config(item.stem, folder));
    EXPECT_EQ(config.stem, item.stem);
    EXPECT_EQ(config.architecture, item.architecture);
    EXPECT_EQ(config.hidden_size, item.hidden);
    EXPECT_EQ(config.layers[0].attention.heads, item.heads);
    EXPECT_EQ(config.layers[0].attention.kv_heads, item.kv_heads);
    EXPECT_EQ(config.layers[0].attention.head_dim, item.head_dim);
    EXPECT_EQ(config.layers[0].mlp.width, item.intermediate);
    EXPECT_EQ(config.vocab_size, item.vocab);
    EXPECT_EQ(config.layers[0].count, item.layers);
    EXPECT_THAT(sentences(config.facts), IsEmpty());
  }
}

TEST(FindModelConfig, TakesAPathOrAStem) {
  const TemporaryFolder folder;
  const fs::path file = folder.file("Demo-1.5B.json", dense().dump());
  EXPECT_EQ(find_model_config(file.string(), "nowhere"), file);
  EXPECT_EQ(find_model_config("Demo-1.5B", folder.path()), file);
  EXPECT_THAT(error_of([&] { find_model_config("Demo-2", folder.path()); }),
              AllOf(HasSubstr("unknown model 'Demo-2'"), HasSubstr("Demo-1.5B")));
  EXPECT_THAT(error_of([&] { find_model_config("missing.json", folder.path()); }),
              AllOf(HasSubstr("'missing.json' is no file"), HasSubstr("Demo-1.5B")));
  EXPECT_THAT(error_of([&] { find_model_config(folder.path().string(), folder.path()); }),
              HasSubstr("is no file: give a config.json"));
}

// A folder of a model holds a config.json, as all others do.
TEST(FindModelConfig, AConfigJsonIsNamedByItsFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"Demo-1.5B", "Other"}) fs::create_directory(folder.path() / name);
  const auto stem = [&](const char* file) {
    folder.file(file, dense().dump());
    return read_model_config(folder.path() / file).stem;
  };
  EXPECT_EQ(stem("Demo-1.5B/config.json"), "Demo-1.5B");
  EXPECT_EQ(stem("Other/../Other/config.json"), "Other");
  EXPECT_EQ(stem("Other/Mine.json"), "Mine");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path() / "Other");
  EXPECT_EQ(read_model_config("config.json").stem, "Other");
  fs::current_path(before);
}

// The hard inputs collected from public failure reports.
TEST(HardConfigs, AreReadOrRefusedAsExpected) {
  PW_REFERENCE_OR_SKIP(reference);
  const struct {
    const char* file;
    const char* error;  // nullptr: is read
    const char* note = "";
  } cases[] = {
      {"A01/config.json", "text_config.num_experts is 64"},
      {"A03/missing.json", nullptr},
      {"A03/null.json", nullptr},
      {"A03/explicit_mha.json", nullptr},
      {"A04/bigger.json", nullptr},
      {"A04/smaller.json", nullptr},
      {"A04/null.json", nullptr},
      {"A04/indivisible.json", "hidden_size 2050 is no multiple of num_attention_heads 16"},
      {"A07/torch_dtype.json", nullptr},
      {"A07/dtype.json", nullptr},
      {"A07/neither.json", nullptr, "bfloat16 weights assumed"},
      {"A07/fp8.json", nullptr, "quantization_config fp8: fp8 GEMMs in all decoder blocks"},
      {"A07/conflict.json", nullptr, "dtype float16 and torch_dtype float32 differ"},
      {"A12/bom.json", nullptr},
      {"A12/nan.json", "nan.json:"},
      {"A12/dup_key.json", "hidden_size"},
      {"A12/string_num.json", "num_hidden_layers is \"4\""},
      {"A12/float_num.json", nullptr},
      {"A12/negative.json", "num_attention_heads is -16"},
      {"A12/fraction.json", "num_hidden_layers is 4.5"},
      {"A12/truncated.json", "truncated.json:9: unexpected end"},
  };
  for (const auto& item : cases) {
    SCOPED_TRACE(item.file);
    const fs::path path = reference / "cases" / item.file;
    if (item.error != nullptr) {
      EXPECT_THAT(error_of([&] { read_model_config(path); }), HasSubstr(item.error));
      continue;
    }
    const ModelConfig config = read_model_config(path);
    EXPECT_EQ(config.layers[0].count, 4);
    const std::string notes = testing::PrintToString(sentences(config.facts));
    EXPECT_THAT(notes, HasSubstr(item.note));
  }
}

}  // namespace
}  // namespace pw
