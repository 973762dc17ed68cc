#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/workload.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Workload demo_workload() {
  WorkloadOptions options;
  options.tp_size = 2;
  options.pp_size = 2;
  ModelConfig model = demo_model();
  model.tied_embeddings = true;
  return generate_workload(
      model, {"demo_trace", {{30, 3}, {70, 2}}, {{FactKind::note, "a note", {}}}}, options);
}

TEST(WorkloadJson, HasThePublishedLayoutThenOurKeys) {
  const std::string published = workload_json(demo_workload(), true);
  EXPECT_EQ(published.find("{\n  \"model\": \"DemoForCausalLM\",\n  \"model_params\": {\n"
                           "    \"hidden_size\": 2048,\n"),
            0u);
  EXPECT_THAT(published, HasSubstr("\"pp_size\": 2,\n  \"iterations\": [\n    {\n"
                                   "      \"iteration\": 1,\n      \"phase\": \"prefill\",\n"));
  EXPECT_THAT(published, testing::EndsWith("  ]\n}"));
  const Json ours = parse_json(workload_json(demo_workload(), false), "ours");
  std::vector<std::string> keys;
  for (const auto& item : ours.items()) {
    keys.push_back(item.key());
  }
  EXPECT_THAT(keys, ElementsAre("model", "model_params", "tp_size", "pp_size", "iterations",
                                "config", "trace", "tied_embeddings", "facts", "schema_version"));
}

TEST(ReadWorkload, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (const bool published : {false, true}) {
    const std::string text = workload_json(demo_workload(), published);
    const Workload read = read_workload(folder.file("w.json", text));
    EXPECT_EQ(workload_json(read, published), text);
    EXPECT_EQ(read.stem, "w");
    EXPECT_EQ(read.model.architecture, "DemoForCausalLM");
    EXPECT_EQ(read.model.stem, published ? "" : "Demo");
    EXPECT_EQ(read.trace, published ? "" : "demo_trace");
    EXPECT_EQ(read.model.tied_embeddings, !published);
    EXPECT_EQ(read.facts.size(), published ? 0u : demo_workload().facts.size());
  }
}

TEST(ReadWorkload, AFileThatDoesNotTellItsOriginStaysReadable) {
  Workload workload = generate_workload(demo_model(), uniform_trace(2, 10, 2), {});
  workload.model.stem.clear();
  workload.trace.clear();
  const TemporaryFolder folder;
  const auto path = folder.file("w.json", workload_json(workload, false));
  EXPECT_EQ(workload_json(read_workload(path), false), workload_json(workload, false));
}

TEST(ReadWorkload, KeepsProfiledTilesAndMasks) {
  Json json = parse_json(workload_json(demo_workload(), true), "demo");
  Json& operators = json["iterations"][0]["operators"];
  operators["gemm"][0].update(
      {{"tile_M", 128}, {"tile_N", 256}, {"tile_K", 64}, {"cta_count", 132}, {"is_split_k", true}});
  operators["attention"]["causal"] = false;
  const TemporaryFolder folder;
  const Workload first = read_workload(folder.file("w.json", json.dump()));
  ASSERT_TRUE(std::get<GemmConfig>(first.steps[0].body->before_attention[0].problem).tile);
  const Workload again = read_workload(folder.file("w.json", workload_json(first, true)));
  ASSERT_TRUE(std::get<GemmConfig>(again.steps[0].body->before_attention[0].problem).tile);
  EXPECT_EQ(std::get<GemmConfig>(again.steps[0].body->before_attention[0].problem).tile->n, 256);
  EXPECT_TRUE(std::get<GemmConfig>(again.steps[0].body->before_attention[0].problem).tile->split_k);
  EXPECT_FALSE(attention_of(again.steps[0]).causal);
}

TEST(ReadWorkload, AcceptsPartOfTheOperatorsAndCountZero) {
  Json json = parse_json(workload_json(demo_workload(), true), "demo");
  for (Json& iteration : json["iterations"]) {
    const Json gemm = iteration["operators"]["gemm"][0];
    iteration["operators"] = {{"gemm", {gemm}}};
    iteration["operators"]["gemm"][0]["count"] = 0;
  }
  const TemporaryFolder folder;
  const Workload workload = read_workload(folder.file("w.json", json.dump()));
  EXPECT_EQ(workload.steps[0].body->before_attention[0].calls, 0);
  EXPECT_TRUE(workload.steps[0].attention.empty());
}

struct BadFile {
  std::function<void(Json&)> spoil;
  const char* message;
};

// `spoil` changes the file of demo_workload(): two requests in a prefill and two decode steps.
void expect_refused(const std::vector<BadFile>& cases) {
  const TemporaryFolder folder;
  for (const BadFile& bad : cases) {
    Json json = parse_json(workload_json(demo_workload(), false), "demo");
    bad.spoil(json);
    const auto path = folder.file("w.json", json.dump());
    const std::string message = error_of([&] { read_workload(path); });
    EXPECT_THAT(message, HasSubstr(bad.message));
  }
}

Json& operators(Json& json) { return json["iterations"][0]["operators"]; }

TEST(ReadWorkload, NamesAllUnknownOperatorsFirst) {
  Json json = parse_json(workload_json(demo_workload(), true), "demo");
  json["iterations"][0]["phase"] = "warmup";
  json["iterations"][1]["operators"]["mystery_op"] = {{"seq", 64}};
  json["iterations"][2]["operators"]["mystery_op"] = {{"seq", 64}};
  json["iterations"][2]["operators"]["communication"][0]["name"] = "all_to_all";
  const TemporaryFolder folder;
  const auto path = folder.file("w.json", json.dump());
  const std::string message = error_of([&] { read_workload(path); });
  EXPECT_THAT(message, HasSubstr("operator mystery_op ("));
  EXPECT_THAT(message, HasSubstr("w.json: iterations[1].operators)"));
  EXPECT_THAT(message, HasSubstr("collective all_to_all ("));
  EXPECT_EQ(message.find("mystery_op"), message.rfind("mystery_op"));
  EXPECT_THAT(message, testing::Not(HasSubstr("warmup")));
}

TEST(ReadWorkload, RefusesBadIterations) {
  expect_refused({
      {[](Json& j) { j["iterations"] = Json::array(); }, "iterations is empty"},
      {[](Json& j) { j.erase("iterations"); }, "iterations is missing"},
      {[](Json& j) { j = Json::array(); }, "expected an object"},
      {[](Json& j) { j["iterations"][1]["phase"] = "warmup"; },
       "iterations[1].phase is \"warmup\", expected prefill or decode"},
      {[](Json& j) { j["iterations"][1]["iteration"] = 1; }, "iterations[1].iteration is 1"},
      {[](Json& j) { j["iterations"][0]["q_lengths"][1] = 0; }, "q_lengths[1] is 0"},
      {[](Json& j) { j["iterations"][1]["kv_lengths"][0] = 0; }, "kv_lengths[0] is 0"},
      {[](Json& j) { j["iterations"][0]["kv_lengths"][0] = 29; },
       "kv_lengths[0] is 29, expected at least q_lengths = 30"},
      {[](Json& j) { j["iterations"][0]["kv_lengths"].push_back(5); }, "kv_lengths has 3 entries"},
      {[](Json& j) {
         j["iterations"][0]["q_lengths"] = Json::array();
         j["iterations"][0]["kv_lengths"] = Json::array();
       },
       "q_lengths is empty"},
      {[](Json& j) { j["iterations"][0]["batch_size"] = 3; },
       "batch_size is 3, expected the number of q_lengths = 2"},
      {[](Json& j) { j["iterations"][0]["num_tokens"] = 99; },
       "num_tokens is 99, expected the sum of q_lengths = 100"},
      {[](Json& j) { j["tp_size"] = 0; }, "tp_size is 0"},
      {[](Json& j) { j["pp_size"] = -1; }, "pp_size is -1"},
      {[](Json& j) { j["model_params"]["head_dim"] = 0; }, "model_params.head_dim is 0"},
      {[](Json& j) { j.erase("model"); }, "model is missing"},
      {[](Json& j) { j["notes"][0] = 7; }, "notes[0] is no text"},
  });
}

TEST(ReadWorkload, RefusesBadOperators) {
  expect_refused({
      {[](Json& j) { operators(j) = Json::object(); }, "operators is empty"},
      {[](Json& j) { operators(j)["gemm"][0]["M"] = 0; },
       "iterations[0].operators.gemm[0] (qkv_proj).M is 0"},
      {[](Json& j) { operators(j)["gemm"][3]["K"] = -1; },
       "iterations[0].operators.gemm[3] (down_proj).K is -1"},
      {[](Json& j) { operators(j)["gemm"][3].erase("N"); }, "gemm[3] (down_proj).N is missing"},
      {[](Json& j) { operators(j)["gemm"][3]["N"] = "64"; }, "(down_proj).N is \"64\""},
      {[](Json& j) { operators(j)["gemm"][3]["count"] = -1; }, "(down_proj).count is -1"},
      {[](Json& j) { operators(j)["gemm"][1]["name"] = "qkv_proj"; },
       "is \"qkv_proj\" a second time"},
      {[](Json& j) { operators(j)["gemm"] = 5; }, "operators.gemm is 5, expected a list"},
      {[](Json& j) { operators(j)["attention"] = nullptr; }, "operators.attention is null"},
      {[](Json& j) { operators(j)["attention"]["bs"] = 3; }, "expected bs = 3"},
      {[](Json& j) { operators(j)["attention"]["kv_lengths"][1] = 0; }, "kv_lengths[1] is 0"},
      {[](Json& j) { operators(j)["attention"]["kv_lengths"][1] = 69; },
       "attention.kv_lengths[1] is 69, expected at least q_lengths = 70"},
      {[](Json& j) { operators(j)["attention"]["nkv"] = 3; }, "attention.nkv is 3"},
      {[](Json& j) { operators(j)["attention"]["attention_type"] = "fa9"; },
       "attention_type is \"fa9\""},
      {[](Json& j) { operators(j)["rmsnorm"]["seq"] = 0; }, "operators.rmsnorm.seq is 0"},
      {[](Json& j) { operators(j)["rmsnorm"].erase("count"); }, "rmsnorm.count is missing"},
      {[](Json& j) { operators(j)["siluandmul"]["dim"] = 0; }, "operators.siluandmul.dim is 0"},
      {[](Json& j) { operators(j)["communication"][0]["volume_bytes"] = 0; },
       "communication[0].volume_bytes is 0"},
      {[](Json& j) {
         Json& list = operators(j)["communication"];
         list.push_back(list[0]);
       },
       "is \"all_reduce\" a second time"},
  });
}

}  // namespace
}  // namespace pw
