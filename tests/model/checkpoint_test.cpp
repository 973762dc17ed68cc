#include "pw/checkpoint.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "checkpoint_archive.h"
#include "io/files.h"
#include "io/json_file.h"
#include "model/mlp.h"
#include "model/script_model.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ModelRecord gemm_record() {
  ModelRecord record;
  record.operator_name = "gemm";
  for (const Feature& feature : tensor_memory_features()) {
    record.features.emplace_back(feature.name);
  }
  return record;
}

Mlp fresh_network(std::int64_t features = 11) {
  torch::manual_seed(1);
  Mlp mlp(features);
  mlp->eval();
  return mlp;
}

std::string bytes_of(const Mlp& mlp, const ModelRecord& record) {
  return checkpoint_bytes(to_torch_script(*mlp), record);
}

class CheckpointTest : public testing::Test {
 protected:
  std::filesystem::path written(const std::string& bytes) const {
    return folder_.file("m.pt", bytes);
  }
  std::string error_for(const std::string& bytes) const {
    const std::filesystem::path path = written(bytes);
    const std::string error = error_of([&] { load_checkpoint(path); });
    EXPECT_EQ(error_of([&] { read_checkpoint_record(path); }), error);
    EXPECT_THAT(error, HasSubstr(path.string()));
    return error;
  }
  // For what the archive alone does not show.
  std::string load_error(const std::string& bytes) const {
    const std::filesystem::path path = written(bytes);
    EXPECT_EQ(error_of([&] { read_checkpoint_record(path); }), "(no DataError)");
    return error_of([&] { load_checkpoint(path); });
  }
  const TemporaryFolder folder_;
};

TEST_F(CheckpointTest, GivesWhatTheNetworkGives) {
  const Mlp mlp = fresh_network();
  const auto model = load_checkpoint(written(bytes_of(mlp, gemm_record())));
  const std::vector<float> raw{1e9f, 7e3f, 3e6f, 1e3f, 5e4f, 2e4f, 1e4f, 300, 3e5f, 1e3f, 9e4f,
                               0,    1,    2,    3,    4,    5,    6,    7,   8,    9,    10};
  torch::Tensor inputs = torch::tensor(raw).view({2, 11}).log1p();
  const torch::NoGradGuard no_grad;
  const torch::Tensor expected = mlp.ptr()->forward(inputs);
  const std::vector<float> outputs = model->evaluate(raw);
  ASSERT_EQ(outputs.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(outputs[static_cast<std::size_t>(i)], expected[i].item<float>(), 1e-6);
  }
  EXPECT_TRUE(model->evaluate({}).empty());
  EXPECT_EQ(record_json(model->record()), record_json(gemm_record()));
  EXPECT_EQ(record_json(read_checkpoint_record(folder_.path() / "m.pt")),
            record_json(gemm_record()));
}

TEST_F(CheckpointTest, KeepsThePublishedNames) {
  const std::filesystem::path path = written(bytes_of(fresh_network(), gemm_record()));
  const torch::jit::Module module = torch::jit::load(path.string());
  std::vector<std::string> names;
  for (const auto& parameter : module.named_parameters()) {
    names.push_back(parameter.name);
  }
  EXPECT_THAT(names, testing::Contains("network.0.weight"));
  EXPECT_THAT(names, testing::Contains("network.10.bias"));
  EXPECT_THAT(names, testing::Contains("network.12.weight"));
  EXPECT_EQ(names.size(), 14u);
}

TEST_F(CheckpointTest, DependsOnContentAlone) {
  const std::string bytes = bytes_of(fresh_network(), gemm_record());
  EXPECT_TRUE(bytes == bytes_of(fresh_network(), gemm_record()));
  ModelRecord other = gemm_record();
  other.training = {{"seed", "1"}};
  EXPECT_FALSE(bytes == bytes_of(fresh_network(), other));
}

TEST_F(CheckpointTest, RefusesIncompleteFiles) {
  const std::string bytes = bytes_of(fresh_network(), gemm_record());
  for (const std::string& part :
       {std::string(), std::string("hello world\n"), bytes.substr(0, bytes.size() / 2),
        bytes.substr(0, bytes.size() - 20)}) {
    const std::string error = error_for(part);
    EXPECT_THAT(error, testing::StartsWith("cannot load "));
    EXPECT_THAT(error, testing::EndsWith("not a complete TorchScript archive (" +
                                         std::to_string(part.size()) + " bytes)"));
  }
}

TEST_F(CheckpointTest, RefusesChangedBytes) {
  std::string bytes = bytes_of(fresh_network(), gemm_record());
  const ZipArchive archive(bytes, "m.pt");
  for (const char* member : {"data/0", "extra/pw_record.json", "extra/pw_checksum"}) {
    std::string changed = bytes;
    const std::size_t place = bytes.find(std::string(archive.member(member)));
    ASSERT_NE(place, std::string::npos);
    changed[place + 40] = static_cast<char>(changed[place + 40] ^ 1);
    EXPECT_THAT(error_for(changed), HasSubstr("the content has changed")) << member;
  }
}

TEST_F(CheckpointTest, RefusesTorchScriptOfOthers) {
  std::ostringstream stream;
  to_torch_script(*fresh_network()).save(stream);
  EXPECT_THAT(error_for(stream.str()), HasSubstr("is TorchScript without our record"));
}

TEST_F(CheckpointTest, RefusesRecordsThatDoNotFit) {
  ModelRecord record = gemm_record();
  record.features[3] = "xu_all_ops";
  EXPECT_THAT(error_for(bytes_of(fresh_network(), record)), HasSubstr("'xu_all_ops'"));
  record = gemm_record();
  record.operator_name = "convolution";
  EXPECT_THAT(error_for(bytes_of(fresh_network(), record)), HasSubstr("'convolution'"));
}

TEST_F(CheckpointTest, RefusesAnotherWidth) {
  EXPECT_THAT(load_error(bytes_of(fresh_network(15), gemm_record())),
              HasSubstr("the model expects 15 features, gemm has 11"));
}

TEST_F(CheckpointTest, RefusesWeightsThatAreNotFinite) {
  for (const char* name : {"network.4.weight", "network.6.running_var"}) {
    const Mlp mlp = fresh_network();
    const torch::NoGradGuard no_grad;
    for (auto& [key, tensor] : named_tensors(*mlp)) {
      if (key == name) {
        tensor.view({-1})[5] = std::nan("");
      }
    }
    EXPECT_THAT(load_error(bytes_of(mlp, gemm_record())),
                AllOf(HasSubstr(name), HasSubstr("not all finite")));
  }
}

TEST_F(CheckpointTest, RefusesOtherOutputs) {
  const std::pair<const char*, const char*> cases[] = {
      {"return torch.log1p(x)", "[2, 11]"},
      {"return (x.sum(1), x)", "Tuple"},
      {"return x.sum(1).to(7)", "double"},
      {"return torch.matmul(x, x)", "cannot be evaluated on 11 features"},
  };
  for (const auto& [body, message] : cases) {
    torch::jit::Module module("__torch__.Other");
    module.define(std::string("def forward(self, x):\n    ") + body + "\n");
    EXPECT_THAT(load_error(checkpoint_bytes(module, gemm_record())), HasSubstr(message)) << body;
  }
}

TEST_F(CheckpointTest, RefusesOutputsThatAreNotFinite) {
  torch::jit::Module module("__torch__.Other");
  module.define("def forward(self, x):\n    return torch.log(x.sum(1) - 5.0)\n");
  const auto model = load_checkpoint(written(checkpoint_bytes(module, gemm_record())));
  EXPECT_THAT(error_of([&] { model->evaluate(std::vector<float>(11, 0)); }),
              HasSubstr("model output not finite for gemm"));
}

TEST_F(CheckpointTest, IsToldItsCopiesAfterwards) {
  ModelRecord record = gemm_record();
  record.kind = ModelKind::log_ratio;
  record.features = feature_names(operator_family("gemm"), ModelKind::log_ratio);
  const auto width = static_cast<std::int64_t>(record.features.size());
  const std::filesystem::path path = written(bytes_of(fresh_network(width), record));
  const std::vector<float> raw(record.features.size(), 0.5f);
  const std::vector<float> before = load_checkpoint(path)->evaluate(raw);
  EXPECT_FALSE(read_checkpoint_record(path).operand_copies.has_value());

  record_operand_copies(path, 6, path);
  EXPECT_EQ(read_checkpoint_record(path).operand_copies, 6.0);
  EXPECT_EQ(load_checkpoint(path)->evaluate(raw), before);
  EXPECT_THAT(error_of([&] { record_operand_copies(path, 0.5, path); }),
              HasSubstr("expected 1 to 1e6"));
  EXPECT_EQ(read_checkpoint_record(path).operand_copies, 6.0);

  written(bytes_of(fresh_network(), gemm_record()));
  EXPECT_THAT(error_of([&] { record_operand_copies(path, 6, path); }),
              HasSubstr("expected log_ratio"));
}

TEST_F(CheckpointTest, RefusesANewerFormat) {
  std::string bytes = bytes_of(fresh_network(), gemm_record());
  const std::string version = "\"format_version\": " + std::to_string(ModelRecord::kFormatVersion);
  const std::size_t place = bytes.find(version);
  ASSERT_NE(place, std::string::npos);
  bytes[place + version.size() - 1] = '9';
  // The checksum is right too, as in a file that a newer program wrote.
  const std::string old_sum(ZipArchive(bytes, "m.pt").member("extra/pw_checksum"));
  bytes.replace(bytes.find(old_sum), old_sum.size(), archive_checksum(ZipArchive(bytes, "m.pt")));
  EXPECT_THAT(error_for(bytes), HasSubstr("use the newer program"));
}

TEST_F(CheckpointTest, PointsPythonCheckpointsToTheImport) {
  PW_REFERENCE_OR_SKIP(reference);
  for (const char* name : {"state_dict.pth", "checkpoint.pth", "legacy.pth"}) {
    const std::filesystem::path path = reference / "cases" / "E01" / name;
    const std::string expected = path.string() +
                                 " is a Python state_dict/checkpoint, not TorchScript; convert it "
                                 "with pw-train import";
    EXPECT_EQ(error_of([&] { load_checkpoint(path); }), expected);
    EXPECT_EQ(error_of([&] { read_checkpoint_record(path); }), expected);
  }
}

}  // namespace
}  // namespace pw
