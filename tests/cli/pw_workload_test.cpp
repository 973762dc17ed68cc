#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "pw/workload.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kProgram = program("pw-workload");
constexpr char kTrace[] = "num_prefill_tokens,num_decode_tokens,output_tokens\n30,9,3\n70,9,2\n";

std::size_t json_files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::count_if(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator(),
                    [](const auto& entry) { return entry.path().extension() == ".json"; }));
}

TEST(PwWorkload, WritesEqualRequestsIntoTheCurrentFolder) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program(folder.path(), kProgram,
                                           {"--model", "Qwen2.5-14B", "--batch", "8", "--input-len",
                                            "3500", "--output-len", "3", "--tp", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "./Qwen2.5-14B_8x3500+3_auto_tp2_pp1.json\n");
  EXPECT_THAT(result.errors, HasSubstr("Qwen2.5-14B, 8 requests with 28000 prompt tokens, "
                                       "2 decode steps, tp 2, pp 1\n"));
  const Workload workload = read_workload(folder.path() / "Qwen2.5-14B_8x3500+3_auto_tp2_pp1.json");
  EXPECT_EQ(workload.steps.size(), 3u);
  EXPECT_EQ(workload.model.stem, "Qwen2.5-14B");
  EXPECT_EQ(workload.trace, "8x3500+3");
}

TEST(PwWorkload, ReadsATraceAndSaysWhatItAssumed) {
  const TemporaryFolder folder;
  folder.file("demo.csv", kTrace);
  const ProgramResult result =
      run_program(folder.path(), kProgram,
                  {"--model", "Qwen3-32B", "--trace", "demo.csv", "--tp", "2", "--pp", "2",
                   "--prefill-backend", "fa3", "--output", "new/folder"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "new/folder/Qwen3-32B_demo_fa3_tp2_pp2.json\n");
  EXPECT_THAT(result.errors, HasSubstr("note: output lengths: column output_tokens"));
  EXPECT_THAT(result.errors, HasSubstr("note: output lengths differ, 2 to 3 tokens"));
  EXPECT_THAT(result.errors, HasSubstr("note: pipeline stages of 32, 32 layers"));
  const Workload workload =
      read_workload(folder.path() / "new/folder/Qwen3-32B_demo_fa3_tp2_pp2.json");
  EXPECT_EQ(workload.steps[2].batch.kv_lengths, std::vector<std::int64_t>{32});
}

TEST(PwWorkload, SelectsPartOfATrace) {
  const TemporaryFolder folder;
  folder.file("demo.csv", kTrace);
  const ProgramResult result = run_program(
      folder.path(), kProgram,
      {"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--batch", "1", "--offset", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "./Qwen2.5-14B_demo_1_from1_auto_tp1_pp1.json\n");
}

TEST(PwWorkload, NamesTheModelOfAConfigJsonByItsFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "Mine");
  fs::copy(source_folder() / "config/Llama-3-8B.json", folder.path() / "Mine/config.json");
  const ProgramResult result = run_program(
      folder.path(), kProgram,
      {"--model", "Mine/config.json", "--batch", "1", "--input-len", "3", "--output-len", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "./Mine_1x3+2_auto_tp1_pp1.json\n");
}

TEST(PwWorkload, WrongOptionValuesEndWithCode2) {
  const TemporaryFolder folder;
  folder.file("demo.csv", kTrace);
  const std::vector<std::string> cases[] = {
      {"--trace", "demo.csv", "--batch", "0"},
      {"--trace", "demo.csv", "--tp", "0"},
      {"--batch", "1", "--input-len", "0", "--output-len", "1"},
      {"--batch", "1000000000", "--input-len", "1", "--output-len", "1"},
  };
  for (std::vector<std::string> arguments : cases) {
    arguments.insert(arguments.begin(), {"--model", "Llama-3-8B"});
    const ProgramResult result = run_program(folder.path(), kProgram, arguments);
    EXPECT_EQ(result.exit_code, 2) << result.errors;
    EXPECT_EQ(json_files_in(folder.path()), 0u);
  }
}

TEST(PwWorkload, B05LeavesBadRowsOutWhenAsked) {
  const TemporaryFolder folder;
  folder.file("odd.csv", "Request tokens,Response tokens\n30,2\n40,0\n50,2\n");
  const std::vector<std::string> arguments{"--model", "Qwen2.5-14B", "--trace", "odd.csv"};
  const ProgramResult refused = run_program(folder.path(), kProgram, arguments);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.errors, HasSubstr("line 3: Response tokens is \"0\" (zero)"));
  EXPECT_EQ(json_files_in(folder.path()), 0u);
  std::vector<std::string> skipping = arguments;
  skipping.push_back("--skip-bad-rows");
  const ProgramResult result = run_program(folder.path(), kProgram, skipping);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("2 requests with 80 prompt tokens"));
  EXPECT_THAT(result.errors, HasSubstr("1 of 3 rows of the trace are skipped: line 3: "));
}

TEST(PwWorkload, WritesThePublishedFormatOnRequest) {
  const TemporaryFolder folder;
  folder.file("demo.csv", kTrace);
  const ProgramResult result = run_program(folder.path(), kProgram,
                                           {"--model", "Qwen2.5-14B", "--trace", "demo.csv",
                                            "--published-rules", "--rmsnorm-per-layer", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const fs::path path = folder.path() / "Qwen2.5-14B_demo_fa2_tp1_pp1.json";
  const Workload workload = read_workload(path);
  EXPECT_EQ(workload_json(workload, true), read_file(path));
  EXPECT_EQ(op_of(workload.steps[0], "rmsnorm").calls, 4 * 48 + 1);
  EXPECT_EQ(workload.steps[2].batch.q_lengths.size(), 2u);
  EXPECT_THAT(result.errors, HasSubstr("the first request's 3 is used for all"));
}

struct Refused {
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
};

TEST(PwWorkload, RefusesInOneLineAndWritesNothing) {
  const TemporaryFolder folder;
  folder.file("demo.csv", kTrace);
  folder.file("zero.csv", "num_prefill_tokens,output_tokens\n0,4\n");
  folder.file("chat.txt", "[{\"id\": \"x1\"}]");
  const Refused cases[] = {
      {{}, 2, "--model is required"},
      {{"--model", "Qwen2.5-14B"}, 2, "--trace, or --batch with --input-len and --output-len"},
      {{"--model", "Qwen2.5-14B", "--batch", "8"}, 2, "--trace, or --batch with"},
      {{"--model", "Qwen2.5-14B", "--batch", "8", "--input-len", "9"}, 2, "--output-len"},
      {{"--model", "Qwen2.5-14B", "--input-len", "9", "--output-len", "9"}, 2, "--batch"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--batch", "1", "--input-len", "9",
        "--output-len", "9"},
       2,
       "excludes"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--prefill-backend", "fa9"}, 2, "fa9"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--rmsnorm-per-layer", "3"}, 2, "3"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--tp", "two"}, 2, "two"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--tp", "3"},
       3,
       "num_attention_heads 40 is not divisible by 3"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--pp", "49"},
       3,
       "pp_size 49 > num_hidden_layers 48"},
      {{"--model", "Qwen2.5-14B", "--trace", "zero.csv"}, 3, "line 2: num_prefill_tokens is \"0\""},
      {{"--model", "Qwen2.5-14B", "--trace", "chat.txt"}, 3, "CSV or JSON lines expected"},
      {{"--model", "Qwen2.5-14B", "--trace", "absent.csv"}, 3, "absent.csv"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--batch", "3"}, 3, "batch size"},
      {{"--model", "No-Such-Model", "--trace", "demo.csv"}, 3, "Qwen2.5-14B"},
      {{"--model", "Qwen2.5-14B", "--trace", "demo.csv", "--output", "demo.csv"}, 3, "demo.csv"},
  };
  for (const Refused& refused : cases) {
    SCOPED_TRACE(testing::PrintToString(refused.arguments));
    const ProgramResult result = run_program(folder.path(), kProgram, refused.arguments);
    EXPECT_EQ(result.exit_code, refused.exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr(refused.message));
    if (refused.exit_code == 3) {
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }
    EXPECT_EQ(json_files_in(folder.path()), 0u);
  }
}

TEST(PwWorkload, HelpTellsUnitsAndExamples) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program(folder.path(), kProgram, {"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* text : {"--input-len TOKENS", "--published-rules",
                           "Examples:", "num_prefill_tokens", "Exit code:"}) {
    EXPECT_THAT(result.output, HasSubstr(text));
  }
}

}  // namespace
}  // namespace pw
