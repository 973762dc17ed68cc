#include "kernel_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

class KernelReportsTest : public testing::Test {
 protected:
  // Five GEMMs whose efficiencies are set by hand; the H100 comes first.
  KernelReportsTest() {
    const HardwareCatalog catalog =
        HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
    path_ = folder_.file("gemm.csv",
                         "M,N,K,avg_duration,hardware,note\n"
                         "16,2048,2048,9,H100,a\n"
                         "32,2048,2048,9.5,A100,b\n"
                         "\n"
                         "64,2048,2048,9,H100,c\n"
                         "128,2048,2048,9,H100,d\n"
                         "256,2048,2048,9,H100,e\n");
    data_ = read_dataset({path_}, operator_family("gemm"), catalog, {});
    data_.efficiency = {0.25, 0.25, 0.5, 0.125, 0.75};
  }
  void write(const std::vector<float>& predicted, const KernelReportOptions& options = {}) const {
    write_kernel_reports(folder_.path() / "out", data_, {path_}, predicted, options);
  }
  std::string text(const char* name) const { return read_file(folder_.path() / "out" / name); }
  bool exists(const char* name) const { return fs::exists(folder_.path() / "out" / name); }

  const TemporaryFolder folder_;
  fs::path path_;
  Dataset data_;
};

constexpr char kH100[] = "topk_underperforming_NVIDIA H100.csv";
constexpr char kA100[] = "topk_underperforming_NVIDIA A100-SXM4-80GB.csv";

// Definitions: spec of the published training, "Kernel reports".
TEST_F(KernelReportsTest, ListsKernelsBelowTheirCeilingWorstFirst) {
  write({0.5f, 0.125f, 1.0f, 0.25f, 0.75f});
  EXPECT_EQ(text(kH100),
            "M,N,K,avg_duration,overall_perf,pred_perf,perf_diff,rel_gap\n"
            "64,2048,2048,9,0.5,1.0,-0.5,-0.5\n"
            "16,2048,2048,9,0.25,0.5,-0.25,-0.5\n"
            "128,2048,2048,9,0.125,0.25,-0.125,-0.5\n");
  EXPECT_FALSE(exists(kA100));
  EXPECT_EQ(text("summary.csv"),
            "hardware,total_underperforming,avg_perf_diff,min_perf_diff,avg_rel_gap,min_rel_gap,"
            "topk_count\n"
            "NVIDIA H100,3,-0.29166666,-0.5,-0.5,-0.5,3\n");
}

TEST_F(KernelReportsTest, ThresholdAndCount) {
  write({0.5f, 0.125f, 1.0f, 0.25f, 0.75f}, {-0.2, 1});
  EXPECT_EQ(text(kH100),
            "M,N,K,avg_duration,overall_perf,pred_perf,perf_diff,rel_gap\n"
            "64,2048,2048,9,0.5,1.0,-0.5,-0.5\n");
  EXPECT_THAT(text("summary.csv"), testing::HasSubstr("NVIDIA H100,2,-0.375,-0.5,-0.5,-0.5,1\n"));
  write({0.5f, 0.125f, 1.0f, 0.25f, 0.75f}, {100, std::nullopt});
  EXPECT_THAT(text(kH100), testing::HasSubstr("256,2048,2048,9,0.75,0.75,0.0,0.0\n"));
  EXPECT_THAT(text(kA100), testing::HasSubstr("32,2048,2048,9.5,0.25,0.125,0.125,"));
}

TEST_F(KernelReportsTest, RemovesWhatAnEarlierReportLeft) {
  write({0.5f, 0.5f, 1.0f, 0.25f, 0.75f});
  EXPECT_TRUE(exists(kA100));
  write_file_atomic(folder_.path() / "out" / "notes.csv", "mine\n");
  write({0, 0, 0, 0, 0});
  EXPECT_FALSE(exists(kA100));
  EXPECT_FALSE(exists("summary.csv"));
  EXPECT_TRUE(exists("notes.csv"));
}

// Definitions: pw/rmsnorm.h, pw/moe.h; the order is that of the published reports.
TEST_F(KernelReportsTest, ShowTheProblemOfEveryFamily) {
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  const auto report = [&](const char* family, const std::string& csv) {
    const fs::path path = folder_.file("rows.csv", csv);
    Dataset data = read_dataset({path}, operator_family(family), catalog, {});
    data.efficiency = {0.25};
    write_kernel_reports(folder_.path() / "out", data, {path}, {0.5f}, {});
    return text(kH100);
  };
  EXPECT_EQ(report("rmsnorm", "hardware,dim,avg_duration,seq\nH100,4096,9,128\n"),
            "seq,dim,avg_duration,overall_perf,pred_perf,perf_diff,rel_gap\n"
            "128,4096,9,0.25,0.5,-0.25,-0.5\n");
  EXPECT_EQ(report("siluandmul", "hardware,dim,duration_us,seq\nH100,4096,9,128\n"),
            "seq,dim,overall_perf,pred_perf,perf_diff,rel_gap\n"
            "128,4096,0.25,0.5,-0.25,-0.5\n");
  EXPECT_EQ(report("moe",
                   "N,H,topk,E,M,weight_type,avg_duration,hardware\n"
                   "14336,4096,2,8,64,w2,900,H100\n"),
            "weight_type,M,E,topk,H,N,avg_duration,overall_perf,pred_perf,perf_diff,rel_gap\n"
            "w2,64,8,2,4096,14336,900,0.25,0.5,-0.25,-0.5\n");
}

TEST_F(KernelReportsTest, PredictionsOfZeroAreClipped) {
  data_.efficiency[1] = 1e-10;
  write({0, 0, 0, 0, 0});
  EXPECT_THAT(text(kA100), testing::HasSubstr(",1e-10,1e-09,-8.9999996e-10,-0.45\n"));
}

}  // namespace
}  // namespace pw
