#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "pw/comparison.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;

class PwProfileTest : public testing::Test {
 protected:
  // A machine is measured once for all tests.
  static void SetUpTestSuite() {
    machine_ = new TemporaryFolder;
    spec_ = run_program(machine_->path(), program("pw-profile"),
                        {"spec", "--threads", "1", "--output", "hardware/cpu.json"});
  }
  static void TearDownTestSuite() { delete machine_; }

  ProgramResult run(std::vector<std::string> arguments) const {
    return run_program(folder_.path(), program("pw-profile"), arguments);
  }
  ProgramResult run_here(std::vector<std::string> arguments) const {
    const std::vector<std::string> device{"--threads", "1", "--hardware-dir", hardware().string()};
    arguments.insert(arguments.end(), device.begin(), device.end());
    return run(arguments);
  }
  fs::path hardware() const { return machine_->path() / "hardware"; }

  static TemporaryFolder* machine_;
  static ProgramResult spec_;
  const TemporaryFolder folder_;
};
TemporaryFolder* PwProfileTest::machine_ = nullptr;
ProgramResult PwProfileTest::spec_;

constexpr char kPlan[] =
    R"({"gemm": [{"M": [1, 8], "N": [64], "K": [64]}],
        "attn": [{"attention_type": ["fa2_paged"], "bs": [2], "q_length": [1], "kv_length": [32],
                  "nh,nkv,hd": [[4, 2, 64]]}],
        "moe": [{"weight_type": ["w2"], "M": [8], "E": [8], "topk": [2], "H": [64], "N": [64]}]})";

TEST_F(PwProfileTest, SpecWritesAHardwareFile) {
  EXPECT_EQ(spec_.exit_code, 0) << spec_.errors;
  EXPECT_EQ(spec_.output, "hardware/cpu.json\n");
  const HardwareSpec spec = read_hardware(hardware() / "cpu.json");
  EXPECT_THAT(spec.name, HasSubstr("(CPU, 1 thread)"));
  EXPECT_EQ(spec.num_sms, 1);
  EXPECT_GT(*spec.sustained_tensor_fraction, 0);
  EXPECT_GT(*spec.sustained_dram_fraction, 0);
  EXPECT_THAT(read_json(hardware() / "cpu.json")["notes"].dump(), HasSubstr("stand-ins"));
}

TEST_F(PwProfileTest, MeasuresAPlanForTraining) {
  folder_.file("plan.json", kPlan);
  const ProgramResult result = run_here({"--plan", "plan.json", "--output", "rows"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, AllOf(HasSubstr("left out: LibTorch"), HasSubstr("operator 'moe'"),
                                   HasSubstr("3 of 3"), HasSubstr(" left, ")));
  EXPECT_EQ(result.output, "rows/attn.csv\nrows/gemm.csv\n");
  const HardwareCatalog catalog = HardwareCatalog::read(hardware());
  for (const char* family : {"gemm", "attn"}) {
    const fs::path csv = folder_.path() / "rows" / (std::string(family) + ".csv");
    const Dataset data = read_dataset({csv}, operator_family(family), catalog, {});
    EXPECT_TRUE(data.dropped.empty());
    EXPECT_EQ(data.rows(), family == std::string("gemm") ? 2u : 1u);
    ASSERT_EQ(data.kernel_sources.size(), 1u);
    EXPECT_THAT(data.kernel_sources[0], testing::StartsWith("LibTorch "));
  }
  EXPECT_EQ(read_json(folder_.path() / "rows" / "gemm.json")["conditions"]["dtype"], "float32");
  EXPECT_EQ(run_here({"--plan", "plan.json", "--output", "rows"}).exit_code, 3);
  const ProgramResult resumed = run_here({"--plan", "plan.json", "--output", "rows", "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("measured 0 problems, 3 were there"));
}

// Waits for the first rows, however long they take, then asks the program to stop.
constexpr char kStopScript[] =
    "\"$@\" & pid=$!; while [ ! -e rows/gemm.csv ] && kill -0 $pid; do sleep 0.05; done; "
    "kill -TERM $pid; wait $pid";

TEST_F(PwProfileTest, StopsInOrder) {
  const ProgramResult result =
      run_program(folder_.path(), "/bin/sh",
                  {"-c", kStopScript, "stop", program("pw-profile"), "--preset", "standard",
                   "--threads", "1", "--hardware-dir", hardware().string(), "--output", "rows"});
  EXPECT_EQ(result.exit_code, 5) << result.errors;
  EXPECT_THAT(result.errors, AllOf(HasSubstr("stopped on request"), HasSubstr("--resume")));
  EXPECT_GT(CsvTable::read(folder_.path() / "rows" / "gemm.csv").rows(), 0u);
}

TEST_F(PwProfileTest, ErrorsSayWhatToDo) {
  folder_.file("plan.json", kPlan);
  const auto error = [&](std::vector<std::string> arguments, int exit_code) {
    const ProgramResult result = run_here(std::move(arguments));
    EXPECT_EQ(result.exit_code, exit_code) << result.errors;
    EXPECT_FALSE(fs::exists(folder_.path() / "rows"));
    return result.errors;
  };
  EXPECT_THAT(error({"--operator", "gemm,moe", "--plan", "plan.json", "--output", "rows"}, 3),
              AllOf(HasSubstr("no fused mixture-of-experts kernel"), HasSubstr("'moe'")));
  EXPECT_THAT(error({"--operator", "rmsnorm", "--plan", "plan.json", "--output", "rows"}, 3),
              HasSubstr("plans nothing for operator 'rmsnorm'"));
  EXPECT_THAT(error({"--plan", "plan.json"}, 2), HasSubstr("--output"));
  EXPECT_THAT(error({"--output", "rows"}, 2), HasSubstr("--preset or --plan"));
  EXPECT_THAT(error({"--plan", "plan.json", "--preset", "quick", "--output", "rows"}, 2),
              HasSubstr("excludes"));
  const ProgramResult unknown =
      run({"--threads", "1", "--plan", "plan.json", "--output", "rows"});  // shipped GPUs alone
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.errors, AllOf(HasSubstr("has no file of"), HasSubstr("pw-profile spec")));
}

TEST_F(PwProfileTest, MeasuresAModelForTheComparison) {
  folder_.file("tiny.json", R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 200,
    "num_hidden_layers": 2, "tie_word_embeddings": false, "dtype": "bfloat16"})");
  const std::vector<std::string> arguments{
      "e2e",         "--model", "tiny.json",    "--batch", "2",      "--output", "e2e",
      "--input-len", "10",      "--output-len", "4",       "--runs", "2"};
  const ProgramResult result = run_here(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "e2e/e2e_cpu.jsonl\n");
  std::vector<std::string> warnings;
  const std::vector<MeasuredCase> cases =
      read_measurements(folder_.path() / "e2e", HardwareCatalog::read(hardware()),
                        [&](const std::string& warning) { warnings.push_back(warning); });
  EXPECT_THAT(warnings, testing::IsEmpty());
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].run_name, "tiny-2x10+4");
  EXPECT_EQ(cases[0].gpu, "cpu");
  ASSERT_EQ(cases[0].runs.size(), 2u);
  for (const Metric metric : kMetrics) {
    EXPECT_GT(*cases[0].runs[0].ms[metric], 0);
  }
  EXPECT_EQ(run_here(arguments).exit_code, 3) << "the same runs twice in a file";
}

TEST_F(PwProfileTest, AModelThatDoesNotFitIsRefusedWithTheBytes) {
  const ProgramResult result = run_here(
      {"e2e", "--model", "Llama-3.1-70B", "--batch", "1", "--input-len", "8", "--output-len", "2"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("Llama-3.1-70B needs 28"), HasSubstr("bytes"),
                                   HasSubstr("choose a smaller model")));
  EXPECT_EQ(run_here({"e2e", "--model", "Qwen2.5-14B", "--batch", "1", "--input-len", "8",
                      "--output-len", "2", "--tp", "2"})
                .exit_code,
            2);
}

}  // namespace
}  // namespace pw
