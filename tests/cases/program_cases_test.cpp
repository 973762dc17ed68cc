// What pw-train and pw-predict make of hard inputs, from files to results. The names of these tests
// are those of the failure reports that they answer.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/json_file.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HardInputs : public testing::Test {
 protected:
  ProgramResult predict(const std::vector<std::string>& arguments) const {
    return run_program(folder_.path(), program("pw-predict"), arguments);
  }
  Json predict_json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const ProgramResult result = predict(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result.exit_code == 0 ? parse_json(result.output, "stdout") : Json();
  }
  ProgramResult train(const std::string& csv, const std::string& output,
                      const std::vector<std::string>& more = {}) const {
    folder_.file(output + ".csv", csv);
    std::vector<std::string> arguments{"mlp",     "--operator",    "gemm",
                                       "--train", output + ".csv", "--output",
                                       output,    "--epochs",      "12"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_.path(), program("pw-train"), arguments);
  }
  CsvTable operators(const std::string& checkpoint, const std::string& csv) const {
    folder_.file("query.csv", csv);
    const ProgramResult result =
        predict({"operators", "--operator", "gemm", "--input", "query.csv", "--checkpoint",
                 "gemm=" + checkpoint, "--output", "result.csv"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return CsvTable::read(folder_.path() / "result.csv");
  }
  std::vector<std::string> durations(const std::string& checkpoint) const {
    const CsvTable table =
        operators(checkpoint, "M,N,K,hardware\n8,512,640,A100\n4096,1024,1024,A100\n");
    std::vector<std::string> all;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      all.emplace_back(table.cell(row, table.column("predicted_duration_us")));
    }
    return all;
  }

  TemporaryFolder folder_;
};

constexpr char kHeader[] = "M,N,K,avg_duration,hardware\n";

// GEMMs that take a launch of 4 us and the time of their operations at 40 % of the GPU's peak.
std::string good_rows(const char* gpu = "A100", double peak_ops_per_us = 312e6) {
  std::string rows;
  for (int i = 1; i <= 24; ++i) {
    const double m = 64.0 * i, n = 512.0 * (1 + i % 5), k = 1024;
    rows += std::to_string(64 * i) + "," + std::to_string(512 * (1 + i % 5)) + ",1024," +
            std::to_string(4 + 2 * m * n * k / (0.4 * peak_ops_per_us)) + "," + gpu + "\n";
  }
  return rows;
}

TEST_F(HardInputs, A07Fp8ModelsArePredictedInFp8) {
  const auto config = [&](const std::string& name, const std::string& more) {
    return folder_
        .file(name, R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
                     "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000,
                     "intermediate_size": 14336, "num_hidden_layers": 32,
                     "tie_word_embeddings": false, "dtype": "bfloat16")" +
                        more + "}")
        .string();
  };
  const std::string bf16 = config("plain.json", "");
  const std::string fp8 = config("fp8.json", R"(, "quantization_config": {"quant_method": "fp8"})");
  const auto run = [&](const std::string& model, const char* gpu) {
    return std::vector<std::string>{"--model",     model,  "--batch",      "16",
                                    "--input-len", "2048", "--output-len", "2",
                                    "--hardware",  gpu};
  };
  const Json wide = predict_json(run(bf16, "H800"));
  const Json narrow = predict_json(run(fp8, "H800"));
  EXPECT_LT(narrow.at("summary").at("prefill_duration_ms").get<double>(),
            0.8 * wide.at("summary").at("prefill_duration_ms").get<double>());
  EXPECT_LT(narrow.at("memory").at("weight_bytes").get<double>(),
            0.6 * wide.at("memory").at("weight_bytes").get<double>());
  EXPECT_THAT(narrow.at("facts").dump(), HasSubstr("fp8 GEMMs in all decoder blocks"));
  const ProgramResult refused = predict(run(fp8, "A100"));
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("fp8"), HasSubstr("A100")));
}

TEST_F(HardInputs, C01AndC03DirtyFilesGiveTheModelOfTheCleanOne) {
  const std::string clean = kHeader + good_rows();
  std::string dirty = "\xEF\xBB\xBF,M,N,K,avg_duration,hardware,\r\n";
  std::size_t begin = 0;
  const std::string rows = good_rows();
  for (std::size_t end = rows.find('\n'); end != std::string::npos; end = rows.find('\n', begin)) {
    dirty += "7," + rows.substr(begin, end - begin) + ",\r\n\r\n";
    begin = end + 1;
  }
  const std::string with_bad = clean + "8,512,640,nan,A100\n8,512,640,,A100\n8,512,640,0,A100\n" +
                               "8,512,640,-1,A100\n8,512,640,1e400,A100\n0,512,640,4,A100\n";
  ASSERT_EQ(train(clean, "clean.pt").exit_code, 0);
  ASSERT_EQ(train(dirty, "dirty.pt").exit_code, 0);
  const ProgramResult partly = train(with_bad, "partly.pt");
  ASSERT_EQ(partly.exit_code, 0) << partly.errors;
  EXPECT_THAT(partly.errors, AllOf(HasSubstr("6 of 30 rows skipped"), Not(HasSubstr("loss nan"))));
  EXPECT_EQ(durations("dirty.pt"), durations("clean.pt"));
  EXPECT_EQ(durations("partly.pt"), durations("clean.pt"));
}

TEST_F(HardInputs, C03AFileOfBadRowsLeavesNoCheckpoint) {
  const ProgramResult result =
      train(std::string(kHeader) + "8,512,640,nan,A100\n8,512,640,0,A100\n", "none.pt");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("no usable rows"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "none.pt"));
}

TEST_F(HardInputs, F01ShippedModelsAnswerTinyShapes) {
  const std::string rows =
      "M,N,K\n1,4096,4096\n16,4096,4096\n128,2048,8\n128,1,2048\n1,1,1\n1,151936,1024\n";
  folder_.file("rows.csv", rows);
  for (const char* gpu : {"A100", "H20", "L40", "RTX PRO 6000 S"}) {
    const ProgramResult result = predict({"operators", "--operator", "gemm", "--input", "rows.csv",
                                          "--hardware", gpu, "--output", "out.csv"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const CsvTable table = CsvTable::read(folder_.path() / "out.csv");
    std::vector<double> us;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      us.push_back(CsvRow(table, row).number("predicted_duration_us"));
      EXPECT_TRUE(std::isfinite(us.back()) && us.back() > 0) << gpu << " row " << row;
    }
    // One row of activations is no slower than 16, as far as kernels go by that: measured, it is by
    // up to 8.5 % (H100, NVIDIA AIConfigurator's table of SGLang 0.5.10).
    EXPECT_LE(us[0], 1.1 * us[1]) << gpu;
  }
}

TEST_F(HardInputs, F06HugeWorkloadsHaveFiniteTimes) {
  const Json wide = predict_json({"--model", "Llama-3-8B", "--batch", "5000", "--input-len", "800",
                                  "--output-len", "2", "--hardware", "L40"});
  const Json narrow = predict_json({"--model", "Llama-3-8B", "--batch", "500", "--input-len", "800",
                                    "--output-len", "2", "--hardware", "L40"});
  EXPECT_GT(wide.at("summary").at("decode_total_duration_ms").get<double>(),
            narrow.at("summary").at("decode_total_duration_ms").get<double>());
  const ProgramResult longest =
      predict({"--model", "Llama-3.1-70B", "--batch", "1", "--input-len", "1048576", "--output-len",
               "2", "--tp", "4", "--hardware", "L40"});
  EXPECT_EQ(longest.exit_code, 0) << longest.errors;
  EXPECT_THAT(longest.output,
              AllOf(HasSubstr("does not fit"), Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
  EXPECT_EQ(longest.output.find("-"), longest.output.find("-3.1-70B"));  // no negative number
}

TEST_F(HardInputs, F08UnknownOperatorsAreNamedBeforeAnyModelIsLoaded) {
  folder_.file("w.json", R"({"model": "Demo", "model_params": {}, "tp_size": 1, "pp_size": 1,
    "iterations": [{"iteration": 1, "phase": "prefill", "operators": {
      "gemm": [], "top_k_gating": {"seq": 1},
      "communication": [{"name": "all_gather", "type": "collective"}]}}]})");
  const ProgramResult result =
      predict({"--workload", "w.json", "--hardware", "L40", "--checkpoints", "nowhere"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("top_k_gating"), HasSubstr("all_gather"), Not(HasSubstr("nowhere"))));
}

TEST_F(HardInputs, G01WhatLiesOutsideTheTrainingIsFlagged) {
  const ProgramResult trained = train(kHeader + good_rows(), "a100.pt", {"--test", "both.csv"});
  EXPECT_EQ(trained.exit_code, 3);  // there is no such file
  folder_.file("both.csv", kHeader + good_rows() + good_rows("H100", 989e6));
  const ProgramResult result = train(kHeader + good_rows(), "a100.pt", {"--test", "both.csv"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output + result.errors,
              AllOf(HasSubstr("test: NVIDIA A100-SXM4-80GB            24 |"),
                    HasSubstr("test: NVIDIA H100                      24 |")));
  const CsvTable table = operators("a100.pt",
                                   "M,N,K,hardware\n640,1024,1024,A100\n900000,1024,1024,A100\n"
                                   "640,1024,1024,H100\n");
  const auto note = [&](std::size_t row) {
    return std::string(table.cell(row, table.column("prediction_note")));
  };
  EXPECT_EQ(note(0), "");
  EXPECT_THAT(note(1), AllOf(HasSubstr("out of range: "), HasSubstr("training range up to")));
  EXPECT_THAT(note(2), HasSubstr("hardware not in training data"));
  EXPECT_GE(CsvRow(table, 1).number("predicted_duration_us"),
            100 * CsvRow(table, 0).number("predicted_duration_us"));
}

TEST_F(HardInputs, G02SameSeedSameAnswersAndThreadsHardlyMatter) {
  for (const char* threads : {"1", "2"}) {
    ASSERT_EQ(
        train(kHeader + good_rows(), std::string("t") + threads + ".pt", {"--threads", threads})
            .exit_code,
        0);
  }
  ASSERT_EQ(train(kHeader + good_rows(), "again.pt").exit_code, 0);
  const std::vector<std::string> one = durations("t1.pt");
  EXPECT_EQ(one, durations("again.pt"));
  EXPECT_EQ(one, durations("t1.pt"));
  const std::vector<std::string> two = durations("t2.pt");
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(std::stod(two[i]) / std::stod(one[i]), 1, 1e-4);
  }
}

}  // namespace
}  // namespace pw
