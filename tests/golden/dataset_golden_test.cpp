#include <gtest/gtest.h>

#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "support/reference.h"

namespace pw {
namespace {

Dataset read(const std::filesystem::path& path, const char* operator_name) {
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  return read_dataset({path}, operator_family(operator_name), catalog, {});
}

// The published rows carry the original's features and overall_perf, which reading compares.
TEST(DatasetGolden, PublishedRowsHaveOurFeatures) {
  PW_REFERENCE_OR_SKIP(reference);
  const std::pair<const char*, std::size_t> files[] = {
      {"attn", 236}, {"gemm", 388}, {"gemm_fp8", 100}, {"rmsnorm", 117}, {"siluandmul", 126}};
  for (const auto& [name, rows] : files) {
    const Dataset data =
        read(reference / "data" / "published_rows" / (std::string(name) + ".csv"), name);
    EXPECT_EQ(data.rows(), rows) << name;
    EXPECT_TRUE(data.dropped.empty()) << name << ": " << summary(data.dropped);
  }
}

// Large data sets of others: the README beside them counts the rows and tells that none is faster
// than its GPU.
TEST(DatasetGolden, MeasuredRowsAreBelowThePeak) {
  PW_REFERENCE_OR_SKIP(reference);
  const std::pair<const char*, std::size_t> files[] = {
      {"gemm", 291951}, {"moe", 33264}, {"rmsnorm", 2715}, {"siluandmul", 14428}};
  for (const auto& [name, rows] : files) {
    const Dataset data = read(reference / "data" / (std::string(name) + ".csv"), name);
    EXPECT_EQ(data.rows(), rows) << name;
    EXPECT_TRUE(data.notes.empty()) << name;
  }
}

}  // namespace
}  // namespace pw
