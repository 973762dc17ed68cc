#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "io/state_dict.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

// The published files were written by json.dump(indent=2), so their bytes must come back.
TEST(JsonGolden, WritesThePublishedBytes) {
  PW_REFERENCE_OR_SKIP(reference);
  std::size_t files = 0;
  for (const char* folder : {"workload", "e2e/pipeweave_pred"}) {
    for (const auto& entry : std::filesystem::directory_iterator(reference / folder)) {
      if (entry.path().extension() != ".json") continue;
      EXPECT_TRUE(to_json_text(read_json(entry.path())) == read_file(entry.path())) << entry.path();
      ++files;
    }
  }
  EXPECT_GT(files, 50u);
}

TEST(CsvGolden, ReadsEveryDataFileWhole) {
  PW_REFERENCE_OR_SKIP(reference);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(reference / "data")) {
    if (entry.path().extension() != ".csv") continue;
    const CsvTable table = CsvTable::read(entry.path());
    EXPECT_NO_THROW(table.require_no_bad_lines());
    EXPECT_GT(table.rows(), 0u) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 20u);
}

TEST(CsvGolden, ReadsTheDurationsOfGemm) {
  PW_REFERENCE_OR_SKIP(reference);
  const CsvTable table = CsvTable::read(reference / "data/gemm.csv");
  EXPECT_EQ(table.rows(), 291951u);  // wc -l, less the header
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const CsvRow record(table, row);
    ASSERT_GT(record.integer("M"), 0) << record.where("M");
    ASSERT_GT(record.number("avg_duration"), 0) << record.where("avg_duration");
  }
}

// Shapes and parameter counts: spec/analytical.md sections 16 and 17.
TEST(StateDictGolden, ReadsEveryPublishedCheckpoint) {
  PW_REFERENCE_OR_SKIP(reference);
  using Shape = std::vector<std::int64_t>;
  const std::pair<const char*, std::int64_t> checkpoints[] = {
      {"attn/attn_mlp_model.pth", 15},
      {"gemm/gemm_mlp_model.pth", 11},
      {"gemm_fp8/gemm_fp8_mlp_model.pth", 11},
      {"gemm_quantile/gemm_mlp_model.pth", 11},
      {"moe_quantile/moe_mlp_model.pth", 11},
      {"rmsnorm/rmsnorm_mlp_model.pth", 15},
      {"siluandmul/siluandmul_mlp_model.pth", 15}};
  for (const auto& [name, features] : checkpoints) {
    const StateDict dict = read_state_dict(reference / "checkpoints_upstream" / name);
    EXPECT_EQ(dict.tensors.size(), 23u) << name;
    EXPECT_EQ(dict.tensors.at("network.0.weight").shape, (Shape{256, features})) << name;
    EXPECT_EQ(dict.tensors.at("network.6.running_var").shape, (Shape{128})) << name;
    EXPECT_EQ(dict.tensors.at("network.12.weight").shape, (Shape{1, 64})) << name;
    EXPECT_EQ(dict.tensors.at("network.2.num_batches_tracked").shape, Shape()) << name;
    std::size_t parameters = 0;
    for (const auto& [key, tensor] : dict.tensors) {
      const bool trained = key.find("running") == key.npos && key.find("batches") == key.npos;
      if (trained) parameters += tensor.values.size();
      EXPECT_TRUE(std::all_of(tensor.values.begin(), tensor.values.end(),
                              [](double value) { return std::isfinite(value); }));
    }
    EXPECT_EQ(parameters, features == 11 ? 45185u : 46209u) << name;
    EXPECT_GT(dict.epoch, 0) << name;
    EXPECT_GT(dict.train_loss, 0) << name;
    const bool quantile = std::string(name).find("quantile") != std::string::npos;
    EXPECT_EQ(dict.validation_loss.has_value(), !quantile) << name;
  }
}

TEST(StateDictGolden, NamesWhatElsePeopleGive) {
  PW_REFERENCE_OR_SKIP(reference);
  const std::pair<const char*, const char*> cases[] = {
      {"E01/good.pt", "a TorchScript archive, expected a state dict"},
      {"E01/legacy.pth", "saved in PyTorch's old format without ZIP"},
      {"E01/state_dict.pth", "no model_state_dict"},
      {"E02/half.pt", "not a complete ZIP archive (4368 bytes)"},
      {"E02/minus_20.pt", "not a complete ZIP archive (8717 bytes)"},
      {"E02/empty.pt", "not a complete ZIP archive (0 bytes)"},
      {"E02/text.pt", "not a complete ZIP archive (12 bytes)"},
      {"E02/bitflip.pt", "the checksum of good/data/0 differs"}};
  for (const auto& [name, message] : cases) {
    EXPECT_THAT(error_of([&, n = name] { read_state_dict(reference / "cases" / n); }),
                testing::HasSubstr(message));
  }
}

TEST(StateDictGolden, RefusesAPublishedFileWithAnyByteFlipped) {
  PW_REFERENCE_OR_SKIP(reference);
  const TemporaryFolder folder;
  const std::string bytes = read_file(reference / "checkpoints_upstream/gemm/gemm_mlp_model.pth");
  const StateDict original = read_state_dict(folder.file("whole.pth", bytes));
  std::size_t refused = 0;
  std::size_t flipped = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 997, ++flipped) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto path = folder.file("damaged.pth", damaged);
    try {
      // Padding and unused fields may be flipped without harm.
      const StateDict dict = read_state_dict(path);
      for (const auto& [name, tensor] : original.tensors) {
        ASSERT_EQ(dict.tensors.at(name).values, tensor.values) << at;
      }
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused * 10, flipped * 8);
}

}  // namespace
}  // namespace pw
