#include "pw/tile_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

constexpr char kRows[] =
    "M,N,K,avg_duration,tile_M,tile_N,tile_K,is_split_k,cta_count,hardware\n"
    "128,4096,4096,20,128,64,32,0,64,NVIDIA A100-SXM4-80GB\n"
    "1024,4096,4096,90,128,128,32,0,256,NVIDIA A100-SXM4-80GB\n"
    "16,4096,4096,18,64,64,64,1,256,NVIDIA H800\n";

class TileTableTest : public testing::Test {
 protected:
  TileTable read(const std::string& text) { return TileTable::read(folder_.file("t.csv", text)); }
  TemporaryFolder folder_;
};

TEST_F(TileTableTest, LogDistanceAndPublishedDistanceChooseDifferentRows) {
  const TileTable table = read(kRows);
  const GemmConfig gemm{400, 4096, 4096, std::nullopt};  // nearer to 1024 by ratio, to 128 by size
  EXPECT_EQ(table.find(gemm, test_ampere(), TileLookup::published).n, 64);
  EXPECT_EQ(table.find(gemm, test_ampere(), TileLookup::nearest_log).n, 128);
}

TEST_F(TileTableTest, GridIsComputedForTheProblemUnlessPublished) {
  const TileTable table = read(kRows);
  const GemmConfig gemm{2048, 4096, 4096, std::nullopt};
  EXPECT_EQ(table.find(gemm, test_ampere(), TileLookup::published).cta_count, 256);
  EXPECT_EQ(table.find(gemm, test_ampere(), TileLookup::nearest_log).cta_count, 16 * 32);
}

TEST_F(TileTableTest, SplitRowsKeepTheirSlices) {
  const TileTable table = read(kRows);
  const GemmConfig gemm{16, 8192, 4096, std::nullopt};  // 128 tiles of 64x64, 4 slices each
  const GemmTile tile = table.find(gemm, test_hopper(), TileLookup::nearest_log);
  EXPECT_TRUE(tile.split_k);
  EXPECT_EQ(tile.cta_count, 128 * 4);
}

TEST_F(TileTableTest, FirstRowWinsATie) {
  const TileTable table = read(
      "M,N,K,tile_M,tile_N,tile_K,is_split_k,cta_count,hardware\n"
      "100,64,64,32,32,32,0,8,NVIDIA A100-SXM4-80GB\n"
      "200,64,64,64,64,32,0,4,NVIDIA A100-SXM4-80GB\n");
  const GemmConfig gemm{150, 64, 64, std::nullopt};
  EXPECT_EQ(table.find(gemm, test_ampere(), TileLookup::published).m, 32);
}

TEST_F(TileTableTest, PublishedStandInAnswersForGpusWithoutRows) {
  const TileTable table = read(kRows);
  HardwareSpec h100 = test_hopper();
  h100.name = "NVIDIA H100";
  EXPECT_EQ(table.rows_for(h100), "NVIDIA H800");
  h100.name = "NVIDIA H1";
  EXPECT_THAT(error_of([&] { table.rows_for(h100); }),
              testing::HasSubstr("NVIDIA A100-SXM4-80GB, NVIDIA H800"));
}

TEST_F(TileTableTest, RefusesFilesThatAreNoTable) {
  EXPECT_THAT(error_of([&] { read("M,N,K\n1,2,3\n"); }), testing::HasSubstr("tile_M"));
  EXPECT_THAT(error_of([&] {
                read(
                    "M,N,K,tile_M,tile_N,tile_K,is_split_k,cta_count,hardware\n"
                    "1,2,3,0,2,3,0,1,A\n");
              }),
              testing::HasSubstr("tile_M"));
}

}  // namespace
}  // namespace pw
