// Benchmark outputs as people bring them, compared by pw-compare. The names of these tests are
// those of the failure reports that they answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
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
  // Compares one prediction (in ms) with a benchmark file.
  ProgramResult compare(const std::string& real, const std::string& prefill,
                        const std::string& decode, const std::string& total) const {
    folder_.file("real.jsonl", real);
    folder_.file("pred.json",
                 R"({"model": "M", "hardware": "NVIDIA H20", "tp_size": 1, "pp_size": 1,
                     "iterations": [], "summary": {"prefill_duration_ms": )" +
                     prefill + R"(, "decode_avg_duration_ms": )" + decode +
                     R"(, "decode_total_duration_ms": 1, "total_duration_ms": )" + total + "}}");
    return run_program(
        folder_.path(), program("pw-compare"),
        {"--pred", "pred.json", "--real", "real.jsonl", "--run", "M-a", "--output", "tables"});
  }
  // A cell of the only row of the comparison.
  std::string cell(const std::string& column) const {
    const CsvTable table = CsvTable::read(folder_.path() / "tables/comparison_pred.csv");
    EXPECT_EQ(table.rows(), 1u);
    return std::string(table.cell(0, table.column(column)));
  }
  TemporaryFolder folder_;
};

std::string run(const std::string& times, const std::string& number = "\"iteration\": 0") {
  return R"({"run_name": "M-a", )" + number + times + "}\n";
}
std::string times(const char* prefill, const char* decode, const char* total) {
  return R"(, "prefill_latency": )" + std::string(prefill) + R"(, "median_decode_latency": )" +
         decode + R"(, "total_latency": )" + total;
}

TEST_F(HardInputs, D01EveryVariantOfTheFileGivesTheSameRow) {
  const std::string all = times("0.24", "0.02", "2.4");
  std::string without_end = run(times("0.25", "0.02", "2.5"), "\"iterations\": 0") +
                            run(all, "\"iterations\": 1") +
                            run(times("0.23", "0.02", "2.3"), "\"iterations\": 2");
  without_end.pop_back();
  std::string crlf = "\xEF\xBB\xBF\r\n";
  for (const std::string& line :
       {run(times("0.23", "0.02", "2.3")), run(all), run(times("0.25", "0.02", "2.5"))}) {
    crlf += line.substr(0, line.size() - 1) + "\r\n\r\n";
  }
  for (const std::string& real : {without_end, crlf}) {
    const ProgramResult result = compare(real, "240.0", "20.0", "2400.0");
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(cell("n_runs"), "3");
    EXPECT_EQ(cell("real_prefill_ms"), "240.0");
    EXPECT_EQ(cell("avg_MAPE(%)"), "0.0");
  }
}

TEST_F(HardInputs, D02RunsWithoutAMetricDoNotCountForIt) {
  const ProgramResult result = compare(
      run(times("0.25", "0.016", "2.0")) + run("", "\"iteration\": 1") +
          run(times("0", "0.0", "-1"), "\"iteration\": 2") +
          run(R"(, "median_decode_latency": 0.016, "total_latency": 2.0)", "\"iteration\": 3") +
          run(times("null", "0.016", "2.0"), "\"iteration\": 4"),
      "200.0", "12.0", "1000.0");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(cell("MAPE_prefill(%)"), "20.0");
  EXPECT_EQ(cell("MAPE_decode(%)"), "25.0");
  EXPECT_EQ(cell("MAPE_total(%)"), "50.0");
  EXPECT_EQ(cell("avg_MAPE(%)"), "31.6667");
  EXPECT_EQ(cell("n_usable_prefill"), "1");
  for (const char* number : {"1", "2", "3", "4"}) {
    EXPECT_THAT(result.errors, HasSubstr("in iteration " + std::string(number)));
  }
}

TEST_F(HardInputs, D03OneTokenRunsHaveNoDecode) {
  for (const std::string& real :
       {run(R"(, "prefill_latency": 0.16, "total_latency": 0.16)"),
        run(times("0.16", "NaN", "0.16")), run(times("0.16", "-Infinity", "0.16"))}) {
    const ProgramResult result = compare(real, "200.0", "0.0", "200.0");
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(cell("MAPE_prefill(%)"), "25.0");
    EXPECT_EQ(cell("MAPE_decode(%)"), "n/a");
    EXPECT_EQ(cell("avg_MAPE(%)"), "25.0");
    EXPECT_THAT(result.output, Not(HasSubstr("nan")));
    EXPECT_THAT(result.errors, HasSubstr("real.jsonl:1: "));
  }
}

TEST_F(HardInputs, D08PredictionsThatAreNoNumbersAreNotAvailable) {
  for (const char* value : {"NaN", "Infinity", "null", "0", "-3.5", "\"12\""}) {
    const ProgramResult result = compare(run(times("0.2", "0.01", "1.0")), value, "11.0", "1000.0");
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(cell("MAPE_prefill(%)"), "n/a") << value;
    EXPECT_EQ(cell("MAPE_decode(%)"), "10.0");
    EXPECT_THAT(result.errors, HasSubstr("summary.prefill_duration_ms is "));
    EXPECT_THAT(result.output, AllOf(HasSubstr("excluded: "), Not(HasSubstr("inf"))));
  }
}

TEST_F(HardInputs, D01CutFilesAreNamedWithTheirLine) {
  const std::string line = run(times("0.2", "0.01", "1.0"));
  const ProgramResult result = compare(line + line.substr(0, 50), "200.0", "10.0", "1000.0");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("real.jsonl:2: unexpected end"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "tables"));
}

}  // namespace
}  // namespace pw
