#include "pw/model_loader.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_archive.h"
#include "io/files.h"
#include "io/sha256.h"
#include "support/decimal_comma.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/temporary_folder.h"
#include "support/zip_writer.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path checkpoint(const std::string& name) { return shipped("checkpoints") / (name + ".pt"); }

// Rows in the middle of the ranges of training.
std::vector<float> rows_of(const ModelRecord& record, std::size_t rows) {
  std::vector<float> features;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const FeatureRange& range : record.feature_ranges) {
      const double part = (static_cast<double>(row) + 1) / (static_cast<double>(rows) + 1);
      features.push_back(static_cast<float>(range.min + part * (range.max - range.min)));
    }
  }
  return features;
}

// A shipped checkpoint with some of its code replaced, and the checksum that belongs to it.
class ModelLoaderTest : public testing::Test {
 protected:
  fs::path with_code(const std::string& name, const std::string& file, const std::string& from,
                     const std::string& to) const {
    const ZipArchive archive(read_file(checkpoint(name)), name);
    std::vector<ZipMember> members;
    for (const auto& [member, content] : archive.members()) {
      if (member.find(kChecksumMember) == std::string::npos) {
        members.push_back({member, std::string(content)});
      }
    }
    for (const char* source : {"code/__torch__.py", "code/__torch__/___torch_mangle_0.py",
                               "code/__torch__/___torch_mangle_1.py"}) {
      std::optional<std::string> text = archive.text(source);
      if (!text) continue;
      if (source == file) {
        const std::size_t at = text->find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text->replace(at, from.size(), to);
      }
      members.push_back({"archive/" + std::string(source), *text});
    }
    const std::string checksum = archive_checksum(ZipArchive(write_zip(members), "new"));
    members.push_back({"archive/extra/" + std::string(kChecksumMember), checksum});
    return folder_.file("changed.pt", write_zip(members));
  }

  const TemporaryFolder folder_;
};

TEST_F(ModelLoaderTest, TellsFileAndChecksum) {
  const LoadedModel loaded = load_model(checkpoint("gemm"), NetworkEngine::native);
  EXPECT_EQ(loaded.file, "gemm.pt");
  EXPECT_EQ(loaded.sha256, sha256_hex(read_file(checkpoint("gemm"))));
  EXPECT_EQ(record_json(loaded.model->record()),
            record_json(parse_record(record_json(loaded.model->record()), "record")));
}

// As in a C program that has called setlocale: no number in a model's code is written with a comma.
TEST_F(ModelLoaderTest, LoadsShippedModelsUnderADecimalComma) {
  PW_DECIMAL_COMMA_OR_SKIP(german);
  for (const fs::path& file : fs::directory_iterator(shipped("checkpoints"))) {
    if (file.extension() == ".pt") {
      EXPECT_NO_THROW(load_model(file, NetworkEngine::native)) << file;
    }
  }
}

TEST_F(ModelLoaderTest, ReadsTheFilesOfTheFamiliesAlone) {
  for (const char* name : {"gemm.pt", "attn_ragged.pt"}) {
    fs::copy(shipped("checkpoints") / name, folder_.path() / name);
  }
  folder_.file("moe.pt", "this file is damaged, and not needed");
  const auto names = [&](const std::vector<std::string>& families) {
    std::vector<std::string> found;
    for (const auto& [name, model] : load_models({folder_.path(), {}}, families)) {
      found.push_back(name);
    }
    return found;
  };
  EXPECT_THAT(names({"gemm"}), ElementsAre("gemm"));
  EXPECT_THAT(names({"gemm", "attn", "rmsnorm"}), ElementsAre("attn_ragged", "gemm"));
  EXPECT_THAT(error_of([&] { names({"moe"}); }), HasSubstr("moe.pt"));
  EXPECT_THAT(error_of([&] {
                load_models({folder_.path(), {{"moe", checkpoint("gemm")}}}, {"moe"});
              }),
              HasSubstr("gemm.pt is a model of 'gemm', expected 'moe'"));
}

TEST_F(ModelLoaderTest, ARowDoesNotDependOnItsBatch) {
  for (const char* name : {"gemm", "attn_paged", "moe_quantile"}) {
    const LoadedModel loaded = load_model(checkpoint(name), NetworkEngine::native);
    const std::size_t width = loaded.model->record().features.size();
    const std::vector<float> all = rows_of(loaded.model->record(), 500);
    const std::vector<float> together = loaded.model->evaluate(all);
    ASSERT_EQ(together.size(), 500u);
    for (const std::size_t row : {0u, 1u, 191u, 192u, 250u, 499u}) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * width);
      const std::vector<float> one(begin, begin + static_cast<std::ptrdiff_t>(width));
      EXPECT_THAT(loaded.model->evaluate(one), ElementsAre(together[row]));
    }
    EXPECT_TRUE(loaded.model->evaluate({}).empty());
  }
}

TEST_F(ModelLoaderTest, MembersAreThoseOfTheMean) {
  const LoadedModel loaded = load_model(checkpoint("gemm"), NetworkEngine::native);
  ASSERT_EQ(loaded.model->members(), 3u);
  const std::vector<float> rows = rows_of(loaded.model->record(), 50);
  const std::vector<float> mean = loaded.model->evaluate(rows);
  const std::vector<float> members = loaded.model->evaluate_members(rows);
  ASSERT_EQ(members.size(), 150u);
  bool differ = false;
  for (std::size_t row = 0; row < 50; ++row) {
    const float a = members[row], b = members[50 + row], c = members[100 + row];
    EXPECT_NEAR(mean[row], (a + b + c) / 3, 1e-5);
    differ = differ || std::abs(a - b) > 1e-3;
  }
  EXPECT_TRUE(differ);
}

TEST_F(ModelLoaderTest, QuantilesFall) {
  const LoadedModel loaded = load_model(checkpoint("moe_quantile"), NetworkEngine::native);
  const std::size_t count = loaded.model->record().quantiles.size();
  ASSERT_EQ(count, 4u);
  const std::vector<float> rows = rows_of(loaded.model->record(), 50);
  const std::vector<float> all = loaded.model->evaluate_quantiles(rows);
  const std::vector<float> main = loaded.model->evaluate(rows);
  ASSERT_EQ(all.size(), 200u);
  for (std::size_t row = 0; row < 50; ++row) {
    for (std::size_t i = 1; i < count; ++i) EXPECT_LE(all[4 * row + i], all[4 * row + i - 1]);
    EXPECT_EQ(main[row], all[4 * row + 1]);  // 0.8 of 0.5, 0.8, 0.9 and 0.95
  }
}

TEST_F(ModelLoaderTest, AnUnchangedCopyIsKnown) {
  const fs::path copy = with_code("gemm", "code/__torch__.py", "torch.relu(", "torch.relu(");
  const std::vector<float> rows = rows_of(read_checkpoint_file(copy).record, 5);
  EXPECT_EQ(load_model(copy, NetworkEngine::native).model->evaluate(rows),
            load_model(checkpoint("gemm"), NetworkEngine::native).model->evaluate(rows));
}

TEST_F(ModelLoaderTest, AnyChangeOfTheCodeIsUnknownOrCounts) {
  struct Case {
    const char *name, *file, *from, *to;
  };
  const Case cases[] = {
      {"gemm", "code/__torch__.py", "torch.relu(x1)", "torch.tanh(x1)"},
      {"gemm", "code/__torch__/___torch_mangle_1.py", "torch.relu(x0)", "torch.sigmoid(x0)"},
      {"gemm", "code/__torch__.py", "torch.relu(x1)", "torch.neg(torch.relu(x1))"},
      {"gemm", "code/__torch__.py", "torch.div(y1, 3)", "torch.div(y1, 2)"},
      {"gemm", "code/__torch__.py", "torch.div(_1, std)", "torch.mul(_1, std)"},
      {"gemm", "code/__torch__.py", "torch.maximum(features, low)", "torch.minimum(features, low)"},
      {"gemm", "code/__torch__.py", "torch.add(y, (member1).forward(x0, ))",
       "torch.add(y, (member1).forward(features, ))"},
      {"gemm", "code/__torch__.py", "member1 = self.member1", "member1 = self.member0"},
      {"gemm", "code/__torch__.py", "torch.squeeze((self)", "torch.squeeze((member0)"},
      {"gemm", "code/__torch__.py", "torch.clamp(_2,", "torch.round(_2,"},
      {"gemm", "code/__torch__.py", "weight2 = self.weight2", "weight2 = self.weight1"},
      {"moe_quantile", "code/__torch__.py", "torch.cummin", "torch.cummax"},
      {"moe_quantile", "code/__torch__.py", "torch.lt(", "torch.gt("},
      {"moe_quantile", "code/__torch__.py", "torch.add(_4, 1.)", "torch.add(_4, 2.)"},
      {"moe_quantile", "code/__torch__.py", "torch.softplus", "torch.relu"},
      {"moe_quantile", "code/__torch__.py", "torch.slice((self).quantiles",
       "torch.slice((self).ensemble_mean"},
      {"moe_quantile", "code/__torch__.py", "torch.mm(known, shifts)", "torch.mm(known, keys)"},
  };
  for (const Case& c : cases) {
    const fs::path changed = with_code(c.name, c.file, c.from, c.to);
    EXPECT_THAT(error_of([&] { load_model(changed, NetworkEngine::native); }),
                HasSubstr("does not know this network"))
        << c.from << " -> " << c.to;
  }
  // What the engine reads from the code and does not only compare.
  const fs::path clipped = with_code("gemm", "code/__torch__.py", "3.087094783782959", "0.25");
  const LoadedModel model = load_model(clipped, NetworkEngine::native);
  const std::vector<float> outputs = model.model->evaluate(rows_of(model.model->record(), 100));
  EXPECT_EQ(*std::max_element(outputs.begin(), outputs.end()), 0.25f);
}

TEST_F(ModelLoaderTest, KnowsTheNamesOfEngines) {
  EXPECT_EQ(parse_network_engine("torch"), NetworkEngine::torch);
  EXPECT_EQ(error_of([] { parse_network_engine("onnx"); }),
            "engine 'onnx', expected auto, native or torch");
}

}  // namespace
}  // namespace pw
