// pw-predict as a process, with the shipped models.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "support/built.h"
#include "support/reference.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PwPredictTest : public testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> arguments) const {
    return run_program(folder_.path(), program("pw-predict"), arguments);
  }
  ProgramResult predict(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"--model",     "Llama-3-8B", "--batch",      "2",
                                          "--input-len", "64",         "--output-len", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  TemporaryFolder folder_;
};

TEST_F(PwPredictTest, PrintsATableAndWritesTheSameAsJson) {
  const ProgramResult result = predict({"--hardware", "H100", "--output", "out.json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("Llama-3-8B on NVIDIA H100"), HasSubstr("decode step"),
                                   HasSubstr("gate_up_proj"), HasSubstr("fits")));
  const Json json = read_json(folder_.path() / "out.json");
  EXPECT_EQ(json.at("iterations").size(), 3u);
  EXPECT_EQ(json.at("case").at("model"), "Llama-3-8B");
  EXPECT_GT(json.at("summary").at("total_duration_ms").get<double>(), 1);
}

TEST_F(PwPredictTest, SeveralGpusGetAFileEach) {
  const ProgramResult result =
      predict({"--hardware", "A100,RTX 6000 Ada", "--summary", "--output", "results/"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  for (const char* gpu : {"A100", "RTX_6000_Ada"}) {
    const auto path = folder_.path() / "results" /
                      ("Llama-3-8B_2x64+3_auto_tp1_pp1_" + std::string(gpu) + ".json");
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  }
}

// Both are called config.json, as in any folder of a model.
TEST_F(PwPredictTest, ModelsOfFoldersGetAFileEach) {
  for (const char* name : {"Llama-3-8B", "Qwen3-14B"}) {
    std::filesystem::create_directory(folder_.path() / name);
    std::filesystem::copy(source_folder() / "config" / (std::string(name) + ".json"),
                          folder_.path() / name / "config.json");
    const ProgramResult result =
        run({"--model", std::string(name) + "/config.json", "--batch", "2", "--input-len", "64",
             "--output-len", "3", "--hardware", "A100", "--summary", "--output", "results/"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
  }
  for (const char* name : {"Llama-3-8B", "Qwen3-14B"}) {
    const auto path =
        folder_.path() / "results" / (std::string(name) + "_2x64+3_auto_tp1_pp1_A100.json");
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_EQ(read_json(path).at("case").at("model"), name);
  }
}

TEST_F(PwPredictTest, WrongOptionValuesEndWithCode2) {
  folder_.file("a.txt", "");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--hardware", "H100,A100", "--output", "a.txt"}, "is a file, expected a folder"},
      {{"--hardware", "H100", "--checkpoint", "gem=gemm.pt"}, "unknown operator 'gem'"},
      {{"--hardware", "H100", "--checkpoint", "gemm=a", "--checkpoint", "gemm=b"}, "'gemm' twice"},
      {{"--hardware", "H100", "--tp", "0"}, "--tp"},
      {{"--hardware", "H100", "--pp", "-1"}, "--pp"},
      {{"--hardware", "H100", "--batch", "0"}, "--batch"},
  };
  for (const auto& [arguments, message] : cases) {
    const ProgramResult result = predict(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.errors, HasSubstr(message));
  }
}

TEST_F(PwPredictTest, AllIsEveryGpuOfTheFolder) {
  std::filesystem::create_directory(folder_.path() / "gpus");
  for (const char* gpu : {"A100.json", "H100.json"}) {
    std::filesystem::copy(source_folder() / "hardware" / gpu, folder_.path() / "gpus" / gpu);
  }
  const ProgramResult all = predict({"--hardware-dir", "gpus", "--hardware", "all"});
  ASSERT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_EQ(all.output, predict({"--hardware", "A100,H100"}).output);
  // Named twice is predicted once.
  EXPECT_EQ(all.output, predict({"--hardware-dir", "gpus", "--hardware", "all,H100"}).output);
}

TEST_F(PwPredictTest, ReadsNoFileThatItDoesNotNeed) {
  // A folder with the models of this workload alone; the rest is damaged.
  const auto checkpoints = source_folder() / "checkpoints";
  std::filesystem::create_directory(folder_.path() / "models");
  for (const char* file : {"gemm.pt", "attn_paged.pt", "attn_ragged.pt"}) {
    std::filesystem::copy(checkpoints / file, folder_.path() / "models" / file);
  }
  for (const char* file : {"moe.pt", "gemm_fp8.pt", "collectives.json", "linear.json"}) {
    folder_.file(std::string("models/") + file, "damaged");
  }
  const ProgramResult one = predict({"--checkpoints", "models", "--hardware", "H100"});
  ASSERT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_EQ(one.output, predict({"--hardware", "H100"}).output);
  const ProgramResult two = predict({"--checkpoints", "models", "--hardware", "H100", "--tp", "2"});
  EXPECT_EQ(two.exit_code, 3);
  EXPECT_THAT(two.errors, HasSubstr("collectives.json"));
}

TEST_F(PwPredictTest, RuntimesAgree) {
  const auto total = [&](const std::string& runtime) {
    const ProgramResult result = predict({"--hardware", "A100", "--json", "--runtime", runtime});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return parse_json(result.output, "stdout").at("summary").at("total_duration_ms").get<double>();
  };
  EXPECT_EQ(total("native"), total("auto"));
  if (built_with_torch()) {
    EXPECT_NEAR(total("torch") / total("native"), 1, 1e-5);
    return;
  }
  const ProgramResult torch = predict({"--hardware", "A100", "--runtime", "torch"});
  EXPECT_EQ(torch.exit_code, 3);
  EXPECT_THAT(torch.errors,
              AllOf(HasSubstr("needs LibTorch"), HasSubstr("/bin/libpw_torch_engine.so"),
                    HasSubstr("scripts/build")));
}

TEST_F(PwPredictTest, EngineAndBaselinesChangeTheSum) {
  const auto total = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--hardware", "A100", "--json"});
    const ProgramResult result = predict(options);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return parse_json(result.output, "stdout").at("summary").at("total_duration_ms").get<double>();
  };
  const double engine = total({});
  EXPECT_NEAR(engine - total({"--without", "host"}), 3 * 1.28, 1e-5);
  const double kernels = total({"--engine", "none"});
  EXPECT_LT(kernels, engine);
  EXPECT_LT(total({"--method", "roofline"}), kernels);
  EXPECT_GT(total({"--method", "linear"}), 0);
}

TEST_F(PwPredictTest, OperatorsAppendsToEachRowAndKeepsTheRest) {
  folder_.file("rows.csv",
               "label,M,N,K,hardware\n\"a, b\",8,4096,4096,A100\nc,1000000,4096,4096,H800\n");
  const ProgramResult result = run({"operators", "--operator", "gemm", "--input", "rows.csv",
                                    "--features", "--output", "out.csv"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const CsvTable csv = CsvTable::read(folder_.path() / "out.csv");
  ASSERT_EQ(csv.rows(), 2u);
  EXPECT_EQ(csv.cell(0, csv.column("label")), "a, b");
  EXPECT_GT(CsvRow(csv, 0).number("tensor_all_ops"), 0);
  const double small = CsvRow(csv, 0).number("predicted_duration_us");
  EXPECT_GT(CsvRow(csv, 1).number("predicted_duration_us"), 100 * small);
  const auto width = [&](std::size_t row) {
    const CsvRow cells(csv, row);
    EXPECT_LT(cells.number("predicted_p10_us"), cells.number("predicted_p90_us"));
    return cells.number("predicted_p90_us") / cells.number("predicted_p10_us");
  };
  EXPECT_LT(width(0), width(1)) << "a GPU that the model knows, and one that it does not";
  EXPECT_THAT(CsvRow(csv, 1).text("prediction_note"),
              AllOf(HasSubstr("hardware not in training data"), HasSubstr("out of range")));
}

TEST_F(PwPredictTest, OperatorsWithoutHeldOutErrorsHaveNoBand) {
  folder_.file("rows.csv", "seq,dim\n2048,5120\n");
  const ProgramResult result = run({"operators", "--operator", "rmsnorm", "--input", "rows.csv",
                                    "--hardware", "A100", "--output", "out.csv"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const CsvTable csv = CsvTable::read(folder_.path() / "out.csv");
  EXPECT_GT(CsvRow(csv, 0).number("predicted_duration_us"), 0);
  EXPECT_EQ(csv.cell(0, csv.column("predicted_p10_us")), "");
  EXPECT_EQ(csv.cell(0, csv.column("predicted_p90_us")), "");
}

// The model of attention reads nothing of the schedulers, which ask for the size of shared memory.
TEST_F(PwPredictTest, OperatorsNeedPipelineFeaturesForFeaturesAlone) {
  Json gpu = read_json(shipped("hardware") / "A100.json");
  gpu.erase("sharedMemorySize");
  folder_.file("A100.json", to_json_text(gpu));
  folder_.file("rows.csv",
               "attention_type,bs,q_lengths,kv_lengths,nh,nkv,hd\n"
               "fa2_ragged,2,\"[512,64]\",\"[512,64]\",32,8,128\n");
  const std::vector<std::string> arguments = {"operators", "--operator", "attn",   "--input",
                                              "rows.csv",  "--hardware", "A100",   "--hardware-dir",
                                              ".",         "--output",   "out.csv"};
  const ProgramResult plain = run(arguments);
  EXPECT_EQ(plain.exit_code, 0) << plain.errors;
  auto with_features = arguments;
  with_features.push_back("--features");
  const ProgramResult refused = run(with_features);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("rows.csv:2: "), HasSubstr("sharedMemorySize")));
}

// More rows than are in memory at once come out in their order.
TEST_F(PwPredictTest, OperatorsStreamsLongFiles) {
  constexpr std::size_t kRows = 9000;
  std::string text = "M,N,K,hardware,label\n";
  for (std::size_t i = 0; i < kRows; ++i) {
    text += std::to_string(1 + i % 777) + ",4096,4096," + (i % 3 == 0 ? "A100" : "H800") + "," +
            std::to_string(i) + "\n";
  }
  folder_.file("rows.csv", text);
  const std::vector<std::string> arguments = {"operators", "--operator", "gemm", "--input",
                                              "rows.csv"};
  const ProgramResult printed = run(arguments);
  ASSERT_EQ(printed.exit_code, 0) << printed.errors;
  auto to_file = arguments;
  to_file.insert(to_file.end(), {"--output", "out.csv"});
  const ProgramResult written = run(to_file);
  ASSERT_EQ(written.exit_code, 0) << written.errors;
  EXPECT_THAT(written.errors, HasSubstr("wrote 9000 rows to out.csv"));
  EXPECT_TRUE(read_file(folder_.path() / "out.csv") == printed.output);
  const CsvTable csv = CsvTable::read(folder_.path() / "out.csv");
  ASSERT_EQ(csv.rows(), kRows);
  std::map<std::string, std::string> duration_of;  // of a problem, the same in every part
  for (std::size_t row = 0; row < kRows; ++row) {
    const CsvRow cells(csv, row);
    ASSERT_EQ(cells.text("label"), std::to_string(row));
    const std::string problem = cells.text("M") + cells.text("hardware");
    const std::string duration = cells.text("predicted_duration_us");
    ASSERT_EQ(duration_of.emplace(problem, duration).first->second, duration);
  }
}

TEST_F(PwPredictTest, OperatorsKeepTheOldFileWhenALateRowIsBad) {
  std::string text = "M,N,K\n";
  for (int i = 0; i < 5000; ++i) text += "8,4096,4096\n";
  folder_.file("rows.csv", text + "8,x,4096\n" + text.substr(6));
  folder_.file("out.csv", "old");
  const std::vector<std::string> arguments = {"operators", "--operator", "gemm",
                                              "--input",   "rows.csv",   "--hardware",
                                              "A100",      "--output",   "out.csv"};
  const ProgramResult result = run(arguments);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("rows.csv:5002: column 'N' is \"x\""));
  EXPECT_EQ(read_file(folder_.path() / "out.csv"), "old");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr(".tmp")));
  }
}

TEST_F(PwPredictTest, OperatorsSkipBadRowsWhenAsked) {
  folder_.file("rows.csv",
               "M,N,K,hardware\n"
               "8,4096,4096,A100\n8,4096\n0,4096,4096,A100\n8,4096,4096,\n8,4096,4096,V9\n"
               "9,4096,4096,A100\n9223372036854775807,9223372036854775807,4096,A100\n");
  std::vector<std::string> arguments = {"operators", "--operator", "gemm",   "--input",
                                        "rows.csv",  "--output",   "out.csv"};
  const ProgramResult refused = run(arguments);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.errors, HasSubstr("rows.csv:3: 2 fields, expected 4"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out.csv"));
  arguments.push_back("--skip-bad-rows");
  const ProgramResult result = run(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("wrote 3 rows to out.csv\n  4 of 7 rows skipped\n"),
                    HasSubstr("  left out: 1 wrong number of fields\n    rows.csv:3: "),
                    HasSubstr("  left out: 1 hardware is empty\n    rows.csv:5: "),
                    HasSubstr("  left out: 1 unknown GPU 'V9'\n    rows.csv:6: ")));
  EXPECT_THAT(result.errors,
              HasSubstr("  left out: 1 no valid problem\n    rows.csv:4: column 'M'"));
  const CsvTable csv = CsvTable::read(folder_.path() / "out.csv");
  ASSERT_EQ(csv.rows(), 3u);
  EXPECT_EQ(csv.cell(1, 0), "9");
  // Products of the sizes are needed for the features alone.
  arguments.push_back("--features");
  const ProgramResult features = run(arguments);
  ASSERT_EQ(features.exit_code, 0) << features.errors;
  EXPECT_THAT(features.errors,
              AllOf(HasSubstr("wrote 2 rows"),
                    HasSubstr("  left out: 1 problem without features\n    rows.csv:8: ")));
}

TEST_F(PwPredictTest, OperatorsWithoutAnyUsableRowAreAnError) {
  folder_.file("rows.csv", "M,N,K\n0,4096,4096\n");
  folder_.file("none.csv", "M,N,K\n");
  std::vector<std::string> arguments = {"operators", "--operator",      "gemm",    "--hardware",
                                        "A100",      "--skip-bad-rows", "--input", "rows.csv"};
  const ProgramResult skipped = run(arguments);
  EXPECT_EQ(skipped.exit_code, 3);
  EXPECT_THAT(skipped.errors,
              HasSubstr("rows.csv: no usable rows for operator gemm: 1 no valid problem; for "
                        "example rows.csv:2: column 'M'"));
  EXPECT_EQ(skipped.output, "");
  arguments.back() = "none.csv";
  EXPECT_THAT(run(arguments).errors, HasSubstr("none.csv has no data rows"));
}

TEST_F(PwPredictTest, InfoPrintsTheRecord) {
  const ProgramResult result = run({"info", source_folder().string() + "/checkpoints/gemm.pt"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json record = parse_json(result.output, "stdout");
  EXPECT_EQ(record.at("operator"), "gemm");
  EXPECT_EQ(record.at("kind"), "log_ratio");
  EXPECT_FALSE(record.at("data").empty());
}

TEST_F(PwPredictTest, RefusesWrongUsageAndBadDataInOneSentence) {
  folder_.file("moe.json", R"({"architectures": ["MixtralForCausalLM"], "num_local_experts": 8})");
  folder_.file("rows.csv", "M,N\n1,2\n");
  folder_.file("pickle.pt", "not a checkpoint");
  folder_.file("w.json", "{}");
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    const char* message;
  };
  const Case cases[] = {
      {{}, 2, "--workload, or --model"},
      {{"--model", "Llama-3-8B", "--hardware", "H100"}, 2, "--trace"},
      {{"--workload", "w.json", "--tp", "8", "--hardware", "H100"}, 2, "--tp"},
      {{"--hardware", "H100", "operators", "--operator", "gemm", "--input", "rows.csv"},
       2,
       "belongs after the subcommand"},
      {{"--workload", "absent.json", "--hardware", "H100"}, 3, "absent.json"},
      {{"--model", "moe.json", "--batch", "1", "--input-len", "8", "--output-len", "2",
        "--hardware", "H100"},
       3,
       "num_local_experts"},
      {{"operators", "--operator", "gemm", "--input", "rows.csv"}, 3, "'K'"},
      {{"operators", "--operator", "gem", "--input", "rows.csv"}, 2, "siluandmul"},
      {{"info", "pickle.pt"}, 3, "not a complete TorchScript archive"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = run(c.arguments);
    EXPECT_EQ(result.exit_code, c.exit_code) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(c.message));
    EXPECT_THAT(result.output, testing::IsEmpty());
  }
}

TEST_F(PwPredictTest, RefusesOptionsOfThePredictionItself) {
  struct Case {
    std::vector<std::string> options;
    int exit_code;
    const char* message;
  };
  const Case cases[] = {
      {{"--hardware", "H1000"}, 2, "A100"},
      {{"--hardware", "H100", "--tp", "3"}, 3, "tp"},
      {{"--hardware", "H100", "--engine", "trt"}, 2, "sglang, vllm"},
      {{"--hardware", "H100", "--runtime", "onnx"}, 2, "--runtime"},
      {{"--hardware", "H100", "--without", "hosts"}, 2, "kv_store"},
      {{"--hardware", "H100", "--engine", "vllm", "--published-rules"}, 2, "--published-rules"},
      {{"--hardware", "H100", "--checkpoint", "gemm"}, 2, "gemm=my.pt"},
      {{"--hardware", "H100", "--checkpoint", "gemm=absent.pt"}, 3, "absent.pt"},
      {{"--hardware", "H100,A100", "--json"}, 2, "--output FOLDER"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = predict(c.options);
    EXPECT_EQ(result.exit_code, c.exit_code) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(c.message));
  }
}

// The user's own folders take the place of the shipped ones, one by one.
TEST_F(PwPredictTest, OwnModelsNeedNoOwnEngineProfiles) {
  std::filesystem::create_directory(folder_.path() / "models");
  std::filesystem::copy(source_folder().string() + "/config/Llama-3-8B.json",
                        folder_.path() / "models" / "mine.json");
  const ProgramResult result = run({"--config-dir", "models", "--model", "mine", "--batch", "1",
                                    "--input-len", "8", "--output-len", "2", "--hardware", "H100"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

}  // namespace
}  // namespace pw
