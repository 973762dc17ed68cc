#include "pw/dataset.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/split.h"
#include "pw/data_paths.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const HardwareCatalog& catalog() {
  static const HardwareCatalog shipped =
      HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  return shipped;
}

class DatasetTest : public testing::Test {
 protected:
  Dataset read(const std::string& csv, const std::vector<RowFilter>& filters = {},
               const char* operator_name = "gemm") const {
    DatasetOptions options;
    options.analysis = {Fa2Schedule::published, GemmTilePolicy::fixed_128};
    options.filters = filters;
    return read_with(csv, options, operator_name);
  }
  Dataset read_with(const std::string& csv, const DatasetOptions& options,
                    const char* operator_name = "gemm") const {
    return read_dataset({folder_.file("data.csv", csv)}, operator_family(operator_name), catalog(),
                        options);
  }
  std::string read_error(const std::string& csv, const char* operator_name = "gemm") const {
    return error_of([&] { read(csv, {}, operator_name); });
  }
  const TemporaryFolder folder_;
};

constexpr char kHeader[] = "M,N,K,avg_duration,hardware\n";
constexpr char kA100Row[] = "16,2048,2048,8.3,NVIDIA A100-SXM4-80GB\n";

// More rows than one thread evaluates: order, groups, GPUs and dropped rows are those of the file.
TEST_F(DatasetTest, LargeFilesReadAsSmallOnes) {
  constexpr std::size_t kRows = 4000;
  std::string csv = kHeader;
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::string m = std::to_string(1 + i % 1500);
    csv += m + ",2048,2048," + (i % 100 == 99 ? "nan" : "900") + "," +
           (i < kRows / 2 ? "NVIDIA L40" : "A100-SXM4-80GB") + "\n";
  }
  const Dataset data = read(csv);
  ASSERT_EQ(data.rows(), kRows - kRows / 100);
  EXPECT_THAT(data.hardware_names, ElementsAre("NVIDIA L40", "NVIDIA A100-SXM4-80GB"));
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> groups;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const std::size_t i = data.line[row] - 2;
    ASSERT_EQ(i, row + row / 99) << "rows stay in order";
    ASSERT_EQ(data.hardware[row], i < kRows / 2 ? 0u : 1u);
    const auto [group, is_new] = groups.try_emplace({i % 1500, data.hardware[row]}, groups.size());
    ASSERT_EQ(data.problem[row], group->second) << i;
  }
  ASSERT_EQ(data.dropped.size(), 1u);
  const DroppedRows& dropped = data.dropped.at("avg_duration is not finite");
  EXPECT_EQ(dropped.rows, static_cast<std::int64_t>(kRows / 100));
  ASSERT_EQ(dropped.examples.size(), DroppedRows::kMaxExamples);
  EXPECT_THAT(dropped.examples[1], HasSubstr("data.csv:201: "));
}

TEST_F(DatasetTest, LateRowsAndFurtherFilesCountAsTheFirst) {
  const std::string header = "M,N,K,avg_duration,hardware,kernel_source\n";
  std::string first = header, second = header;
  for (int i = 0; i < 700; ++i) {
    const std::string problem = std::to_string(1 + i) + ",2048,2048,900,NVIDIA L40,";
    first += i == 600 ? "1,2048\n" : problem + (i < 650 ? "early\n" : "late\n");
    second += problem + "other\n";
  }
  const Dataset data =
      read_dataset({folder_.file("first.csv", first), folder_.file("second.csv", second)},
                   operator_family("gemm"), catalog(), DatasetOptions{});
  ASSERT_EQ(data.rows(), 1399u);
  EXPECT_THAT(data.kernel_sources, ElementsAre("early", "late", "other"));
  ASSERT_EQ(data.dropped.size(), 1u);
  EXPECT_THAT(data.dropped.begin()->second.examples,
              ElementsAre(HasSubstr("first.csv:602: 2 fields, expected 6")));
  EXPECT_EQ(row_place(data, 600), "first.csv:603");
  EXPECT_EQ(row_place(data, 1398), "second.csv:701");
  EXPECT_EQ(data.problem.front(), data.problem[699]) << "the first rows of both files";
  EXPECT_EQ(data.problem[698], data.problem[1398]);
}

TEST_F(DatasetTest, TellsWhoseKernelsTheUsedRowsAre) {
  const Dataset data = read(
      "M,N,K,avg_duration,hardware,kernel_source\n"
      "16,2048,2048,8,A100,b\n32,2048,2048,8,A100,\"a, c\"\n"
      "64,2048,2048,8,A100,b\n64,2048,2048,8,A100,\n16,2048,2048,nan,A100,unused\n");
  EXPECT_THAT(data.kernel_sources, ElementsAre("b", "a, c"));
  EXPECT_TRUE(read(std::string(kHeader) + kA100Row).kernel_sources.empty());
}

TEST_F(DatasetTest, TargetIsIdealCyclesOverMeasuredCycles) {
  const Dataset data = read(std::string(kHeader) + kA100Row);
  ASSERT_EQ(data.rows(), 1u);
  // One row of 16 tiles of 128 x 128: 2 * 128 * 2048 * 2048 operations on 108 SMs, 2048 per cycle.
  const double cycles = 2.0 * 128 * 2048 * 2048 / (108 * 2048);
  EXPECT_DOUBLE_EQ(data.reference_us[0], static_cast<float>(cycles) / 1410.0);
  EXPECT_DOUBLE_EQ(data.efficiency[0], cycles / (8.3 * 1410));
  EXPECT_EQ(data.features.size(), data.width());
  EXPECT_DOUBLE_EQ(data.features[1], cycles);
  EXPECT_THAT(data.hardware_names, ElementsAre("NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(data.files[0].rows_used, 1);
  EXPECT_EQ(data.files[0].sha256.size(), 64u);
  EXPECT_EQ(row_place(data, 0), "data.csv:2");
  EXPECT_TRUE(data.dropped.empty());
}

TEST_F(DatasetTest, UsesTheTileColumnsOfARow) {
  const Dataset data = read(
      "M,N,K,avg_duration,tile_M,tile_N,tile_K,is_split_k,cta_count,hardware\n"
      "16,2048,2048,8.3,64,64,64,0,32,A100\n"
      "16,2048,2048,8.3,,,,,,A100\n");
  EXPECT_DOUBLE_EQ(data.features[0], 2.0 * 64 * 2048 * 2048);
  EXPECT_DOUBLE_EQ(data.features[data.width()], 2.0 * 128 * 2048 * 2048);
}

TEST_F(DatasetTest, DropsUnusableRowsByReason) {
  const Dataset data = read(std::string(kHeader) + kA100Row +
                            "16,2048,2048,nan,A100\n"
                            "16,2048,2048,-inf,A100\n"
                            "16,2048,2048,,A100\n"
                            "16,2048,2048,0,A100\n"
                            "16,2048,2048,-3.2,A100\n"
                            "16,2048,2048,N/A,A100\n"
                            "16,2048,2048,1e400,A100\n"
                            ",2048,2048,9.0,A100\n"
                            "0,2048,2048,9.0,A100\n"
                            "4000000000,4000000000,4000000000,9.0,A100\n"
                            "16,2048,2048,9.0,AcmeGPU X1\n"
                            "16,2048,2048,9.0,\n"
                            "16,2048,2048,9.0\n");
  EXPECT_EQ(data.rows(), 1u);
  std::map<std::string, std::int64_t> counts;
  for (const auto& [reason, dropped] : data.dropped) {
    counts[reason] = dropped.rows;
  }
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"avg_duration is empty", 1},
                                                         {"avg_duration is not a number", 2},
                                                         {"avg_duration is not finite", 2},
                                                         {"avg_duration is not positive", 2},
                                                         {"hardware is empty", 1},
                                                         {"no valid problem", 2},
                                                         {"problem without features", 1},
                                                         {"unknown GPU 'AcmeGPU X1'", 1},
                                                         {"wrong number of fields", 1}}));
  EXPECT_THAT(data.dropped.at("avg_duration is empty").examples,
              ElementsAre(AllOf(HasSubstr("data.csv:5"), HasSubstr("avg_duration"))));
  EXPECT_THAT(data.dropped.at("wrong number of fields").examples,
              ElementsAre(HasSubstr("data.csv:15")));
  EXPECT_THAT(data.dropped.at("unknown GPU 'AcmeGPU X1'").examples,
              ElementsAre(AllOf(HasSubstr("data.csv:13"), HasSubstr("H100"))));
}

TEST_F(DatasetTest, KeepsFewExamplesOfManyDroppedRows) {
  std::string csv = std::string(kHeader) + kA100Row;
  for (int i = 0; i < 50; ++i) {
    csv += "16,2048,2048,0,A100\n";
  }
  const DroppedRows dropped = read(csv).dropped.at("avg_duration is not positive");
  EXPECT_EQ(dropped.rows, 50);
  EXPECT_EQ(dropped.examples.size(), DroppedRows::kMaxExamples);
}

TEST_F(DatasetTest, NoUsableRowIsAnError) {
  EXPECT_THAT(read_error(std::string(kHeader) + "16,2048,2048,nan,A100\n16,2048,2048,,A100\n"),
              AllOf(HasSubstr("data.csv"), HasSubstr("no usable rows"),
                    HasSubstr("1 avg_duration is empty, 1 avg_duration is not finite")));
}

TEST_F(DatasetTest, MissingColumnsAreNamed) {
  EXPECT_THAT(read_error("M,N,avg_duration,hardware\n16,2048,8.3,A100\n"), HasSubstr("'K'"));
  EXPECT_THAT(
      read_error("M,N,K,mean_duration_us,Hardware\n16,2048,2048,8.3,A100\n"),
      AllOf(HasSubstr("'avg_duration'"), HasSubstr("'hardware'"), HasSubstr("mean_duration_us")));
}

TEST_F(DatasetTest, GpuNamesMatchInFullOnly) {
  const Dataset data = read(std::string(kHeader) +
                            "16,2048,2048,8.3,NVIDIA L40\n"
                            "16,2048,2048,8.3,nvidia l40\n"
                            "16,2048,2048,8.3,NVIDIA  L40 \n"
                            "16,2048,2048,8.3,L40\n"
                            "16,2048,2048,8.3,NVIDIA L4\n");
  EXPECT_THAT(data.hardware_names, ElementsAre("NVIDIA L40"));
  EXPECT_EQ(data.rows(), 4u);
  EXPECT_EQ(data.dropped.at("unknown GPU 'NVIDIA L4'").rows, 1);
}

TEST_F(DatasetTest, MillisecondsAreNoMicroseconds) {
  const std::string ms = std::string(kHeader) +
                         "16,2048,2048,8.7332,A100\n2048,5632,2048,0.1727309,A100\n"
                         "128,2048,2048,0.0009,A100\n";
  EXPECT_THAT(read_error(ms), AllOf(HasSubstr("faster than the hardware's peak in 2 rows"),
                                    HasSubstr("first at line 3"), HasSubstr("microseconds?")));
  EXPECT_THAT(read_error("seq,dim,avg_duration,hardware\n8192,8192,0.1,A100\n", "rmsnorm"),
              HasSubstr("peak in 1 rows"));
  EXPECT_EQ(read("seq,dim,avg_duration,hardware\n8192,8192,150,A100\n", {}, "rmsnorm").rows(), 1u);
}

TEST_F(DatasetTest, ConvertsDurationsByHeaderOrStatedUnit) {
  struct Case {
    const char* column;
    const char* duration;
    std::optional<DurationUnit> stated;
    const char* recorded;
  };
  const Case cases[] = {
      {"avg_duration", "8.5", std::nullopt, "us"},
      {"avg_duration", "0.0085", DurationUnit::ms, "ms"},
      {"avg_duration", "8.5e-6", DurationUnit::s, "s"},
      {"avg_duration_us", "8.5", std::nullopt, "us"},
      {"avg_duration_ms", "0.0085", DurationUnit::ms, "ms"},
      {"duration_ms", "0.0085", std::nullopt, "ms"},
      {"duration_s", "8.5e-6", std::nullopt, "s"},
  };
  for (const Case& c : cases) {
    DatasetOptions options;
    options.duration_unit = c.stated;
    const Dataset data = read_with(
        "M,N,K," + std::string(c.column) + ",hardware\n16,2048,2048," + c.duration + ",A100\n",
        options);
    EXPECT_DOUBLE_EQ(data.duration_us[0], 8.5) << c.column;
    EXPECT_EQ(data.files[0].duration_unit, c.recorded) << c.column;
  }
}

TEST_F(DatasetTest, ContradictingUnitsAreErrors) {
  DatasetOptions options;
  options.duration_unit = DurationUnit::us;
  const std::string row = "16,2048,2048,0.0085,A100\n";
  EXPECT_THAT(error_of([&] { read_with("M,N,K,avg_duration_ms,hardware\n" + row, options); }),
              AllOf(HasSubstr("data.csv"), HasSubstr("'avg_duration_ms'"), HasSubstr("as us")));
  EXPECT_THAT(read_error("M,N,K,avg_duration_ms,hardware,duration_us\n16,2048,2048,1,A100,1000\n"),
              HasSubstr("'duration_us' and 'avg_duration_ms'"));
  options.duration_unit = DurationUnit::ms;
  EXPECT_THAT(
      error_of([&] { read_with(kHeader + std::string("2048,2048,2048,1e-4,A100\n"), options); }),
      HasSubstr("are durations in milliseconds?"));
  EXPECT_THAT(error_of([] { parse_duration_unit("min"); }), HasSubstr("expected us, ms or s"));
}

TEST_F(DatasetTest, ReadsWeightsAndDropsRowsWithout) {
  DatasetOptions options;
  options.weight_column = "w";
  const std::string csv =
      "M,N,K,avg_duration,hardware,w\n16,2048,2048,8.3,A100,2.5\n16,2048,2048,8.3,A100,0\n"
      "16,2048,2048,8.3,A100,\n16,2048,4096,16.3,A100,1\n";
  const Dataset data = read_with(csv, options);
  EXPECT_THAT(data.weight, ElementsAre(2.5, 1));
  EXPECT_EQ(data.dropped.at("w is not positive").rows, 1);
  EXPECT_EQ(data.dropped.at("w is empty").rows, 1);
  EXPECT_TRUE(read(csv).weight.empty());
  options.weight_column = "weight";
  EXPECT_THAT(error_of([&] { read_with(csv, options); }), HasSubstr("'weight'"));
}

TEST_F(DatasetTest, KeepsAFeatureSubsetInTheFamilysOrder) {
  const std::string csv = std::string(kHeader) + kA100Row + "64,4096,2048,20,A100\n";
  DatasetOptions options;
  const Dataset all = read_with(csv, options);
  options.features = {all.feature_names[5], all.feature_names[1]};
  const Dataset some = read_with(csv, options);
  EXPECT_THAT(some.feature_names, ElementsAre(all.feature_names[1], all.feature_names[5]));
  const std::size_t width = all.width();
  EXPECT_THAT(some.features, ElementsAre(all.features[1], all.features[5], all.features[width + 1],
                                         all.features[width + 5]));
  options.features = {"tensor_all_op"};
  EXPECT_THAT(error_of([&] { read_with(csv, options); }),
              AllOf(HasSubstr("'tensor_all_op'"), HasSubstr("tensor_all_ops")));
  options.features = {"tensor_all_ops", "tensor_all_ops"};
  EXPECT_THAT(error_of([&] { read_with(csv, options); }), HasSubstr("twice"));
}

TEST_F(DatasetTest, ALittleAboveThePeakIsNoted) {
  // 2 * 2048^3 operations at 312 TFLOP/s need 55 us.
  const std::string rows = std::string(kHeader) + kA100Row + "2048,2048,2048,";
  EXPECT_THAT(read(rows + "40,A100\n").notes,
              ElementsAre(AllOf(HasSubstr("peak in 1 rows"), HasSubstr("line 3"))));
  EXPECT_TRUE(read(rows + "56,A100\n").notes.empty());
  EXPECT_THAT(read_error(rows + "26,A100\n"), HasSubstr("microseconds?"));
}

TEST_F(DatasetTest, APaddedTileIsNoProofOfImpossibleSpeed) {
  // From an L2 cache this row takes a third of the time that its padded tiles need at full speed.
  const Dataset data = read(std::string(kHeader) + "1,8192,8192,20,A100\n");
  EXPECT_GT(data.efficiency[0], 1.05);
}

TEST_F(DatasetTest, ProblemsAreTheSameGpuAndShape) {
  const Dataset data = read(std::string(kHeader) +
                            "16,2048,2048,8.3,A100\n"
                            "16,2048,2048,8.9,NVIDIA A100-SXM4-80GB\n"
                            "16,2048,2048,8.3,H100\n"
                            "16,2048,4096,16.3,A100\n"
                            "16.0,2048,2048,8.4,A100\n");
  EXPECT_THAT(data.problem, ElementsAre(0, 0, 1, 2, 0));
}

TEST_F(DatasetTest, GroupsByTheColumnsThatAreAskedFor) {
  const std::string csv =
      "M,N,K,avg_duration,hardware,session\n"
      "16,2048,2048,8.3,A100,a\n"
      "16,2048,2048,8.9,NVIDIA A100-SXM4-80GB,b\n"
      "16,2048,4096,16.3,H100,a\n";
  DatasetOptions options;
  const auto problems = [&](std::vector<std::string> columns) {
    options.group_by = std::move(columns);
    return read_with(csv, options).problem;
  };
  EXPECT_THAT(problems({"session"}), ElementsAre(0, 1, 0));
  EXPECT_THAT(problems({"hardware"}), ElementsAre(0, 0, 1));
  EXPECT_THAT(problems({"N", "session"}), ElementsAre(0, 1, 0));
  EXPECT_THAT(error_of([&] { problems({"sesion"}); }), HasSubstr("'sesion'"));
}

TEST_F(DatasetTest, HoldsASecondGroupingBesideTheProblems) {
  DatasetOptions options;
  options.hold_out_by = {"N", "K"};
  const Dataset data = read_dataset({folder_.file("data.csv",
                                                  "M,N,K,avg_duration,hardware\n"
                                                  "16,2048,2048,8.3,A100\n"
                                                  "32,2048,2048.0,8.9,H100\n"
                                                  "16,2048,4096,16.3,H100\n")},
                                    operator_family("gemm"), catalog(), options);
  EXPECT_THAT(data.problem, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.hold_out_group, ElementsAre(0, 0, 1));
}

TEST_F(DatasetTest, NoProblemIsInBothPartsOfASplit) {
  std::string csv = kHeader;
  std::vector<std::string> problem_of_row;
  for (int row = 0; row < 600; ++row) {
    const std::string n = std::to_string(128 * (1 + row * row % 37));
    const bool is_a100 = row % 3 != 0;
    csv += "16," + n + (row % 5 == 0 ? ".0" : "") + ",2048," + std::to_string(100 + row);
    csv += !is_a100 ? ",H100\n" : row % 2 == 0 ? ",A100\n" : ",nvidia a100-sxm4-80gb\n";
    problem_of_row.push_back(n + (is_a100 ? " A100" : " H100"));
  }
  const Dataset data = read(csv);
  ASSERT_EQ(data.rows(), 600u);
  const Split split = split_groups(data.problem, 0.2, 42);
  std::set<std::string> validated;
  for (const std::int64_t row : split.validation) {
    validated.insert(problem_of_row[static_cast<std::size_t>(row)]);
  }
  for (const std::int64_t row : split.training) {
    EXPECT_EQ(validated.count(problem_of_row[static_cast<std::size_t>(row)]), 0u) << row;
  }
  EXPECT_GE(split.validation.size(), 120u);
  EXPECT_LT(split.validation.size(), 200u);
}

TEST_F(DatasetTest, ReadsListsAndKeepsTheLineOfABadOne) {
  const Dataset data = read(
      "attention_type,bs,q_lengths,kv_lengths,nh,nkv,hd,avg_duration,hardware\n"
      "fa2_ragged,2,\"[6, 70]\",\"[ 6 , 70 ]\",16,8,128,21.5,L40\n"
      "fa2_ragged,2,\"[6,70]\",\"[6,70]\",16,8,128,21.5,L40\n"
      "fa2_ragged,3,\"[6,70]\",\"[6,70]\",16,8,128,21.5,L40\n"
      "fa2_ragged,2,[6,70],[6,70],16,8,128,21.5,L40\n",
      {}, "attn");
  EXPECT_EQ(data.rows(), 2u);
  EXPECT_EQ(data.problem[0], data.problem[1]);
  EXPECT_THAT(data.dropped.at("no valid problem").examples, ElementsAre(HasSubstr("data.csv:4")));
  EXPECT_THAT(data.dropped.at("wrong number of fields").examples,
              ElementsAre(HasSubstr("data.csv:5")));
}

TEST_F(DatasetTest, ComparesTheFilesOwnFeatures) {
  const std::string header = "M,N,K,avg_duration,hardware,tensor_all_ops,overall_perf\n";
  const std::string row = "16,2048,2048,8.3,A100,";
  const double ops = 2.0 * 128 * 2048 * 2048;
  const std::string efficiency = "0.41481";
  EXPECT_THAT(read_error(header + row + std::to_string(ops) + "," + efficiency + "\n"),
              AllOf(HasSubstr("data.csv:2"), HasSubstr("'overall_perf'")));
  EXPECT_THAT(read_error(header + row + std::to_string(ops / 2) + ",\n"),
              AllOf(HasSubstr("data.csv:2"), HasSubstr("'tensor_all_ops'"), HasSubstr("M=16")));
  EXPECT_EQ(read(header + row + std::to_string(ops) + ",\n").rows(), 1u);
  EXPECT_EQ(read(header + row + std::to_string(ops * (1 + 1e-11)) + ",\n").rows(), 1u);
}

TEST_F(DatasetTest, FiltersRowsByColumns) {
  const std::string csv =
      "M,N,K,avg_duration,hardware,source\n"
      "16,2048,2048,8.3,A100,x\n16,2048,2048,8.3,A100,y\n16,2048,2048,8.3,H100,x\n"
      "16,2048,2048,8.3,H100,z\n";
  EXPECT_EQ(read(csv, {parse_row_filter("source=x")}).rows(), 2u);
  EXPECT_EQ(read(csv, {parse_row_filter("source=x|y")}).rows(), 3u);
  EXPECT_EQ(read(csv, {parse_row_filter("source!=x|y")}).rows(), 1u);
  const Dataset data =
      read(csv, {parse_row_filter("source=x"), parse_row_filter("hardware!=A100")});
  EXPECT_EQ(row_place(data, 0), "data.csv:4");
  EXPECT_EQ(data.dropped.at("not selected by source=x").rows, 2);
  EXPECT_THAT(error_of([&] { read(csv, {parse_row_filter("origin=x")}); }), HasSubstr("origin"));
}

TEST_F(DatasetTest, FiltersRowsByNumbers) {
  const std::string csv = std::string(kHeader) +
                          "16,512,2048,8.3,A100\n16,1e3,2048,8.4,A100\n16,64,2048,8.5,A100\n"
                          "16,wide,2048,8.6,A100\n";
  EXPECT_THAT(read(csv, {parse_row_filter("N>=512")}).duration_us, ElementsAre(8.3, 8.4));
  EXPECT_THAT(read(csv, {parse_row_filter("N<=512")}).duration_us, ElementsAre(8.3, 8.5));
  EXPECT_THAT(read(csv, {parse_row_filter("N>=512"), parse_row_filter("N<=512")}).duration_us,
              ElementsAre(8.3));
}

TEST_F(DatasetTest, FiltersJoinedByOrKeepRowsOfEither) {
  const RowFilter filter = parse_row_filter("source=a or hardware=NVIDIA H800");
  EXPECT_EQ(to_string(filter), "source=a or hardware=NVIDIA H800");
  const Dataset data = read(
      "M,N,K,avg_duration,hardware,source\n"
      "128,4096,4096,30,NVIDIA A100-SXM4-80GB,a\n"
      "128,4096,4096,31,NVIDIA A100-SXM4-80GB,b\n"
      "128,4096,4096,20,NVIDIA H800,b\n",
      {filter});
  EXPECT_THAT(data.duration_us, testing::ElementsAre(30, 20));
}

TEST(RowFilter, ReadsAllForms) {
  const RowFilter keep = parse_row_filter("source=a|b=c");
  EXPECT_EQ(keep.column, "source");
  EXPECT_THAT(keep.values, ElementsAre("a", "b=c"));
  EXPECT_FALSE(keep.exclude);
  EXPECT_EQ(to_string(keep), "source=a|b=c");
  const RowFilter exclude = parse_row_filter("hardware!=NVIDIA L40");
  EXPECT_TRUE(exclude.exclude);
  EXPECT_EQ(to_string(exclude), "hardware!=NVIDIA L40");
  EXPECT_EQ(parse_row_filter("N>=512").least, 512);
  EXPECT_EQ(to_string(parse_row_filter("N>=512")), "N>=512.0");
  EXPECT_EQ(to_string(parse_row_filter("M<=0.5")), "M<=0.5");
  for (const char* bad : {"", "source", "=x", "!=x", ">=1", "N>=", "N>=many", "N<=1 2"}) {
    EXPECT_THAT(error_of([&] { parse_row_filter(bad); }), HasSubstr("expected column=value"));
  }
}

}  // namespace
}  // namespace pw
