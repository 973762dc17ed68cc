#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "lib/reference.h"

namespace pw {
namespace {

// The published files were written by json.dump(indent=2), so their bytes must come back.
TEST(JsonGolden, WritesThePublishedBytes) {
  PW_REQUIRE_REFERENCE(reference);
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
  PW_REQUIRE_REFERENCE(reference);
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
  PW_REQUIRE_REFERENCE(reference);
  const CsvTable table = CsvTable::read(reference / "data/gemm.csv");
  EXPECT_EQ(table.rows(), 291951u);  // wc -l, less the header
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const CsvRow record(table, row);
    ASSERT_GT(record.integer("M"), 0) << record.where("M");
    ASSERT_GT(record.number("avg_duration"), 0) << record.where("avg_duration");
  }
}

}  // namespace
}  // namespace pw
