#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "io/json_file.h"
#include "pw/checkpoint.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    PW_REFERENCE_OR_SKIP(reference);
    const fs::path gemm = reference / "checkpoints_upstream" / "gemm";
    pth_ = folder_.file("gemm.pth", read_file(gemm / "gemm_mlp_model.pth"));
    metadata_ = read_json(gemm / "metadata.json");
  }
  fs::path import(const char* operator_name = "gemm") const {
    folder_.file("metadata.json", metadata_.dump());
    import_state_dict(pth_, operator_name, folder_.path() / "out.pt");
    return folder_.path() / "out.pt";
  }
  std::string import_error(const char* operator_name = "gemm") const {
    const std::string error = error_of([&] { import(operator_name); });
    EXPECT_FALSE(fs::exists(folder_.path() / "out.pt"));
    return error;
  }

  const TemporaryFolder folder_;
  fs::path pth_;
  Json metadata_;
};

TEST_F(ImportTest, KeepsWhatTheOriginalRecorded) {
  const ModelRecord record = load_checkpoint(import())->record();
  EXPECT_EQ(record.operator_name, "gemm");
  EXPECT_EQ(record.features.size(), 11u);
  EXPECT_EQ(record.feature_ranges[0].max, 457895187578880.0);
  EXPECT_EQ(record.hardware_rows.size(), 6u);
  EXPECT_EQ(record.hardware_rows[0], (std::pair<std::string, std::int64_t>{"NVIDIA H20", 97687}));
  EXPECT_EQ(record.analysis.fa2_schedule, Fa2Schedule::published);
  EXPECT_EQ(record.data[0].name, "gemm_train.csv");
  EXPECT_EQ(record.data[0].rows_used, 494463);
  const std::map<std::string, std::string> training(record.training.begin(), record.training.end());
  EXPECT_EQ(training.at("imported_file"), "gemm.pth");
  EXPECT_EQ(training.at("best_epoch"), "75");
  EXPECT_EQ(training.at("validation_loss").substr(0, 6), "0.0495");
}

TEST_F(ImportTest, FeaturesFollowTheMetadata) {
  std::swap(metadata_["model_info"]["features"][0], metadata_["model_info"]["features"][4]);
  EXPECT_EQ(load_checkpoint(import())->record().features[4], "tensor_all_ops");
}

TEST_F(ImportTest, RefusesWhatDoesNotBelongTogether) {
  EXPECT_THAT(import_error("attn"), AllOf(HasSubstr("operator_type"), HasSubstr("'gemm'")));
  EXPECT_THAT(import_error("convolution"), HasSubstr("convolution"));

  const Json original = metadata_;
  Json& model = metadata_["model_info"];
  model["num_features"] = 14;
  EXPECT_THAT(import_error(), HasSubstr("num_features: found 14, but 'features' lists 11"));
  model["num_features"] = 10;
  model["features"].erase(10);
  EXPECT_THAT(import_error(), HasSubstr("the model expects 11 features, gemm has 10"));
  metadata_ = original;
  metadata_["model_info"]["features"][2] = "xu_all_ops";
  EXPECT_THAT(import_error(), HasSubstr("'xu_all_ops'"));
  metadata_ = original;
  metadata_["feature_ranges"].erase("local_cycle");
  EXPECT_THAT(import_error(), HasSubstr("local_cycle"));
  metadata_ = original;
  metadata_["model_info"].erase("features");
  EXPECT_THAT(import_error(), HasSubstr("features"));
}

TEST_F(ImportTest, NeedsTheMetadata) {
  EXPECT_THAT(error_of([&] { import_state_dict(pth_, "gemm", folder_.path() / "out.pt"); }),
              HasSubstr("metadata.json"));
}

}  // namespace
}  // namespace pw
