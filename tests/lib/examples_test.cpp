// The example files that ship: every row is read, and its invented duration is possible.
#include <string>

#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/json_file.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "pw/hardware_catalog.h"
#include "pw/operators.h"
#include "pw/trace.h"

namespace pw {
namespace {

class OperatorExample : public testing::TestWithParam<std::string> {};

TEST_P(OperatorExample, HasPossibleRows) {
  const OperatorFamily& family = operator_family(GetParam());
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", {}));
  const CsvTable table =
      CsvTable::read(find_data_folder("dataset", {}) / "examples" / (GetParam() + ".csv"));
  table.require_no_bad_lines();
  EXPECT_GE(table.rows(), 4);
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const CsvRow row(table, i);
    const HardwareSpec& hardware = catalog.get(row.text("hardware"));
    const PipelineFeatures features = analyze_operator(family.read(row), hardware);
    EXPECT_LT(efficiency_of(ideal_cycles<double>(features), row.number("avg_duration"), hardware),
              1)
        << row.where("avg_duration") << ": faster than the GPU's peak";
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperatorExample,
                         testing::Values("gemm", "gemm_fp8", "attn", "rmsnorm", "siluandmul",
                                         "moe"));

// The rows that ship of a CPU are what pw-profile writes: read with their own hardware file, and
// each with its description.
TEST(CpuRows, AreReadAsTrainingData) {
  const std::filesystem::path folder = find_data_folder("dataset", {}) / "cpu";
  const HardwareCatalog catalog = HardwareCatalog::read(folder / "hardware");
  for (const std::string family : {"gemm", "attn", "rmsnorm", "siluandmul"}) {
    const Dataset data =
        read_dataset({folder / "rows" / (family + ".csv")}, operator_family(family), catalog, {});
    EXPECT_GE(data.rows(), 10) << family;
    EXPECT_TRUE(data.dropped.empty()) << family << ": " << summary(data.dropped);
    EXPECT_TRUE(data.notes.empty()) << family << ": " << data.notes.front();
    const Json about = read_json(folder / "rows" / (family + ".json"));
    EXPECT_EQ(about["rows"], data.rows());
    EXPECT_EQ(about["conditions"]["hardware"], data.hardware_names.front());
  }
}

TEST(TraceExample, HasEightLongPrompts) {
  const Trace trace =
      read_trace(find_data_folder("workload", {}) / "examples" / "arxiv_like_8.csv");
  EXPECT_EQ(trace.requests.size(), 8);
  for (const Request& request : trace.requests) {
    EXPECT_GE(request.input_tokens, 2000);
    EXPECT_LE(request.input_tokens, 4000);
    EXPECT_EQ(request.output_tokens, 128);
  }
}

}  // namespace
}  // namespace pw
