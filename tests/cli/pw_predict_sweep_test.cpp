// `pw-predict sweep` and `merge` as processes, with the shipped models.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kTrace[] = "num_prefill_tokens,output_tokens\n300,9\n70,2\n500,5\n";

class PwPredictSweepTest : public testing::Test {
 protected:
  PwPredictSweepTest() { folder_.file("chat.csv", kTrace); }

  ProgramResult run(const std::vector<std::string>& arguments) const {
    return run_program(folder_.path(), program("pw-predict"), arguments);
  }
  // A grid of 2 models, 3 GPUs, 3 tp, 1 trace and 4 batches, 48 of its 72 rows possible.
  static std::vector<std::string> grid(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"sweep",      "--models",      "Llama-3-8B,Qwen2.5-14B",
                                          "--hardware", "H100,A100,L40", "--tp",
                                          "1,2,3",      "--trace",       "chat.csv",
                                          "--batch",    "1,2,3,4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string content(const std::string& name) const { return read_file(folder_.path() / name); }

  TemporaryFolder folder_;
};

TEST_F(PwPredictSweepTest, PrintsTheNumbersOfSinglePredictionsInGridOrder) {
  const ProgramResult result = run(grid({}));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const CsvTable csv = CsvTable::read(folder_.file("out.csv", result.output));
  ASSERT_EQ(csv.rows(), 72u);
  const auto cell = [&](std::size_t row, const char* column) {
    return csv.cell(row, csv.column(column));
  };
  EXPECT_EQ(cell(0, "gpu"), "H100");
  EXPECT_EQ(cell(1, "gpu"), "A100");
  EXPECT_EQ(cell(3, "batch"), "2");
  EXPECT_EQ(cell(12, "tp"), "2");
  EXPECT_EQ(cell(36, "model"), "Qwen2.5-14B");

  // Llama-3-8B, tp 2, batch 2 on an A100.
  const std::size_t row = 12 + 3 + 1;
  EXPECT_EQ(cell(row, "status"), "ok");
  EXPECT_EQ(cell(row, "fits"), "yes");
  const ProgramResult one = run({"--model", "Llama-3-8B", "--hardware", "A100", "--tp", "2",
                                 "--trace", "chat.csv", "--batch", "2", "--json"});
  ASSERT_EQ(one.exit_code, 0) << one.errors;
  const Json summary = parse_json(one.output, "stdout").at("summary");
  const CsvRow fields(csv, row);
  EXPECT_EQ(fields.number("prefill_ms"), summary.at("prefill_duration_ms").get<double>());
  EXPECT_EQ(fields.number("decode_ms"), summary.at("decode_avg_duration_ms").get<double>());
  EXPECT_EQ(fields.number("total_ms"), summary.at("total_duration_ms").get<double>());
  EXPECT_NEAR(fields.number("tokens_per_s"), 11 / (fields.number("total_ms") * 1e-3), 1e-2);
  EXPECT_NEAR(fields.number("tokens_per_s_per_gpu"), fields.number("tokens_per_s") / 2, 1e-3);
  EXPECT_EQ(cell(2, "facts"), "output_length_source unseen_gpu extrapolated");
}

TEST_F(PwPredictSweepTest, ImpossibleCombinationsAreRows) {
  const ProgramResult result = run(grid({"--output", "out.csv"}));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, HasSubstr("wrote 72 rows to out.csv; 36 of them impossible"));
  const CsvTable csv = CsvTable::read(folder_.path() / "out.csv");
  const std::size_t status = csv.column("status"), error = csv.column("error");
  EXPECT_THAT(std::string(csv.cell(24, error)),
              HasSubstr("num_attention_heads 32 is not divisible by 3"));
  EXPECT_THAT(std::string(csv.cell(9, error)), HasSubstr("batch size for trace chat is 4"));
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const bool possible = csv.cell(row, status) == "ok";
    EXPECT_EQ(possible, csv.cell(row, error).empty());
    EXPECT_EQ(possible, !csv.cell(row, csv.column("total_ms")).empty());
  }
}

TEST_F(PwPredictSweepTest, ThreadsDoNotChangeTheOutput) {
  const ProgramResult one = run(grid({"--threads", "1"}));
  const ProgramResult many = run(grid({"--threads", "7"}));
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_EQ(one.output, many.output);
}

TEST_F(PwPredictSweepTest, EqualRequestsMakeAGridOfLengths) {
  const ProgramResult result =
      run({"sweep", "--models", "all", "--hardware", "all", "--input-len", "64,128", "--output-len",
           "1,3", "--batch", "2", "--pp", "2", "--format", "jsonl"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto lines =
      static_cast<std::size_t>(std::count(result.output.begin(), result.output.end(), '\n'));
  const auto json_files_in = [](const char* folder) {
    const fs::path path = source_folder() / folder;
    return static_cast<std::size_t>(
        std::count_if(fs::directory_iterator(path), fs::directory_iterator(),
                      [](const auto& entry) { return entry.path().extension() == ".json"; }));
  };
  EXPECT_EQ(lines, 4 * json_files_in("config") * json_files_in("hardware"));
  const Json first = parse_json(result.output.substr(0, result.output.find('\n')), "line 1");
  EXPECT_EQ(first.at("input_len"), 64);
  EXPECT_EQ(first.at("output_len"), 1);
  EXPECT_EQ(first.at("decode_ms"), nullptr);  // the first token comes from prefill
  EXPECT_EQ(first.at("trace"), nullptr);
  EXPECT_GT(first.at("total_ms").get<double>(), 0);
}

TEST_F(PwPredictSweepTest, MergedShardsAreTheWholeSweep) {
  ASSERT_EQ(run(grid({"--output", "whole.csv"})).exit_code, 0);
  std::vector<std::string> merge = {"merge"};
  for (const char* shard : {"3", "1", "2"}) {
    const std::string file = "part" + std::string(shard) + ".csv";
    const ProgramResult result =
        run(grid({"--output", file, "--shard", std::string(shard) + "/3"}));
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    merge.push_back(file);
  }
  merge.insert(merge.end(), {"--output", "all.csv"});
  const ProgramResult merged = run(merge);
  ASSERT_EQ(merged.exit_code, 0) << merged.errors;
  EXPECT_EQ(content("all.csv"), content("whole.csv"));
  EXPECT_EQ(content("all.csv.sweep.json"), content("whole.csv.sweep.json"));

  const ProgramResult missing = run({"merge", "part1.csv", "part2.csv", "--output", "x.csv"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.errors, HasSubstr("one of 3 shards, but 2 files are given"));
  EXPECT_FALSE(fs::exists(folder_.path() / "x.csv"));
}

TEST_F(PwPredictSweepTest, ResumesAfterACut) {
  ASSERT_EQ(run(grid({"--output", "out.csv"})).exit_code, 0);
  const std::string whole = content("out.csv");
  folder_.file("out.csv", whole.substr(0, whole.size() / 2 + 5));
  const ProgramResult resumed = run(grid({"--output", "out.csv", "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("to out.csv, which had "));
  EXPECT_EQ(content("out.csv"), whole);

  const ProgramResult again = run(grid({"--output", "out.csv", "--resume"}));
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("wrote 0 rows to out.csv, which had 72"));
  const ProgramResult other = run(grid({"--output", "out.csv", "--resume", "--pp", "2"}));
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.errors, HasSubstr("'pp' differs"));
  folder_.file("chat.csv", std::string(kTrace) + "1,1\n");
  const ProgramResult changed = run(grid({"--output", "out.csv", "--resume"}));
  EXPECT_EQ(changed.exit_code, 3);
  EXPECT_THAT(changed.errors, HasSubstr("'requests' differs"));
  EXPECT_EQ(content("out.csv"), whole);
}

// Runs a long sweep and ends it by a signal once it has written some rows.
TEST_F(PwPredictSweepTest, ASignalLeavesAFileThatCanBeResumed) {
  const auto big = [](const std::string& output, const std::string& more) {
    return std::vector<std::string>{
        "sweep",       "--models", "Llama-3-8B",
        "--hardware",  "H100",     "--threads",
        "1",           "--batch",  "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
        "--input-len", "100",      "--output-len",
        "3000",        "--output", output,
        more};
  };
  const std::string errors = (folder_.path() / "errors.txt").string();
  const fs::path path = folder_.path() / "out.csv";
  std::vector<std::string> arguments = big(path.string(), "--resume");
  std::string executable = program("pw-predict");
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> argv{executable.data()};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    if (std::freopen(errors.c_str(), "w", stderr) == nullptr) ::_exit(99);
    ::execv(argv.front(), argv.data());
    ::_exit(99);
  }
  const auto rows = [&] {
    std::error_code error;
    if (!fs::exists(path, error)) return std::ptrdiff_t{0};
    const std::string text = read_file(path);
    return std::count(text.begin(), text.end(), '\n') - 1;
  };
  int status = 0;
  bool ended = false;
  while (!ended && rows() < 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ended = ::waitpid(child, &status, WNOHANG) != 0;
  }
  if (!ended) {
    ::kill(child, SIGINT);
    ::waitpid(child, &status, 0);
  }
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 0) GTEST_SKIP() << "the sweep ended before the signal came";
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_THAT(read_file(errors), AllOf(HasSubstr("pw-predict: stopped after "),
                                       HasSubstr(" of 16 rows; the same command with --resume")));
  EXPECT_LT(rows(), 16);
  EXPECT_EQ(content("out.csv").back(), '\n');
  ASSERT_EQ(run(big(path.string(), "--resume")).exit_code, 0);
  ASSERT_EQ(run(big("whole.csv", "--resume")).exit_code, 0);
  EXPECT_EQ(content("out.csv"), content("whole.csv"));
}

TEST_F(PwPredictSweepTest, RefusesWrongUsageAndBadDataInOneSentence) {
  fs::create_directory(folder_.path() / "other");
  folder_.file("other/chat.csv", kTrace);
  folder_.file("moe.json", R"({"architectures": ["MixtralForCausalLM"], "num_local_experts": 8})");
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    const char* message;
  };
  const std::vector<std::string> short_grid = {"sweep", "--models", "Llama-3-8B", "--hardware",
                                               "H100"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = short_grid;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Case cases[] = {
      {{"sweep"}, 2, "--models is required"},
      {{"sweep", "--models", "Llama-3-8B", "--trace", "chat.csv"}, 2, "--hardware is required"},
      {short_grid, 2, "--trace, or --batch with --input-len and --output-len"},
      {with({"--batch", "8"}), 2, "--trace, or --batch with"},
      {with({"--input-len", "8", "--output-len", "8"}), 2, "--batch"},
      {with({"--batch", "8", "--input-len", "8"}), 2, "--output-len"},
      {with({"--trace", "chat.csv", "--batch", "1", "--input-len", "8", "--output-len", "8"}), 2,
       "--trace"},
      {with({"--trace", "chat.csv", "--tp", "0"}), 2, "--tp"},
      {with({"--trace", "chat.csv", "--tp", "1,2,1"}), 2, "--tp: names 1 twice"},
      {with({"--trace", "chat.csv", "--batch", "two"}), 2, "two"},
      {with({"--trace", "chat.csv", "--shard", "4/3"}), 2, "expected I/N with I from 1 to N"},
      {with({"--trace", "chat.csv", "--shard", "0/3"}), 2, "'0/3'"},
      {with({"--trace", "chat.csv", "--shard", "1"}), 2, "'1'"},
      {with({"--trace", "chat.csv", "--format", "xml"}), 2, "xml"},
      {with({"--trace", "chat.csv", "--threads", "0"}), 2, "--threads"},
      {with({"--trace", "chat.csv", "--resume"}), 2, "--output"},
      {with({"--trace", "chat.csv", "--engine", "vllm", "--published-rules"}), 2,
       "--published-rules"},
      {{"--hardware", "H100", "sweep", "--models", "Llama-3-8B", "--hardware", "H100", "--trace",
        "chat.csv"},
       2,
       "belongs after the subcommand"},
      {with({"--trace", "chat.csv", "--models", "Llama-3-8B"}), 2, "two models are called"},
      {with({"--trace", "chat.csv", "--trace", "other/chat.csv"}), 2,
       "two traces are called 'chat', chat.csv and other/chat.csv: "},
      {with({"--trace", "absent.csv"}), 3, "absent.csv"},
      {with({"--trace", "chat.csv", "--hardware", "H1000"}), 2, "H1000"},
      {with({"--trace", "chat.csv", "--models", "moe.json"}), 3, "num_local_experts"},
      {with({"--trace", "chat.csv", "--engine", "trt"}), 2, "sglang, vllm"},
      {with({"--trace", "chat.csv", "--output", "."}), 3, "no regular file"},
      {{"merge", "chat.csv"}, 2, "--output is required"},
      {{"merge", "--output", "x.csv"}, 2, "shards is required"},
      {{"merge", "chat.csv", "--output", "x.csv"}, 3, "chat.csv has no chat.csv.sweep.json"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.arguments));
    const ProgramResult result = run(c.arguments);
    EXPECT_EQ(result.exit_code, c.exit_code) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(c.message));
    EXPECT_THAT(result.output, IsEmpty());
    if (c.exit_code == 3) {
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }
    EXPECT_FALSE(fs::exists(folder_.path() / "x.csv"));
  }
}

TEST_F(PwPredictSweepTest, HelpTellsTheGridAndAnExample) {
  const ProgramResult result = run({"sweep", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* text : {"--models NAME,...|all", "--shard I/N", "--resume", "Example:"}) {
    EXPECT_THAT(result.output, HasSubstr(text));
  }
}

}  // namespace
}  // namespace pw
