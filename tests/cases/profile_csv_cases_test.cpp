// Profiled CSVs as people bring them. The names of these tests are those of the failure reports
// that they answer.

#include <locale>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "support/decimal_comma.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kHeader[] = "M,N,K,avg_duration,hardware\n";

Dataset read(const std::string& csv, const char* family = "gemm") {
  static const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  const TemporaryFolder folder;
  return read_dataset({folder.file("rows.csv", csv)}, operator_family(family), catalog, {});
}
std::string error_for(const std::string& csv, const char* family = "gemm") {
  return error_of([&] { read(csv, family); });
}

// Reasons and how many rows each left out.
std::map<std::string, std::int64_t> dropped(const Dataset& data) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [reason, rows] : data.dropped) counts[reason] = rows.rows;
  return counts;
}

// All examples of left out rows in one text.
std::string examples(const Dataset& data) {
  std::string text;
  for (const auto& [reason, rows] : data.dropped) {
    for (const std::string& example : rows.examples) text += example + "\n";
  }
  return text;
}

void expect_same_rows(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.duration_us, b.duration_us);
  EXPECT_EQ(a.efficiency, b.efficiency);
  EXPECT_EQ(a.hardware_names, b.hardware_names);
}

TEST(HardInputs, C01MarksIndexColumnsAndTrailingCommasChangeNothing) {
  const Dataset clean = read(std::string(kHeader) + "24,3072,1024,9.5,A100\n8,512,640,4.25,H100\n");
  const Dataset dirty = read(
      "\xEF\xBB\xBF,M,N,K,avg_duration,hardware,,\r\n"
      "0,24,3072,1024,9.5,A100,,\r\n\r\n"
      "1, 8 ,512,640,\"4.25\",\"H100\",,\r\n");
  EXPECT_EQ(dirty.rows(), 2u) << examples(dirty);
  expect_same_rows(clean, dirty);
  EXPECT_THAT(error_for(std::string("\xFF\xFEM\0,\0", 6)), HasSubstr("not UTF-8: UTF-16"));
  EXPECT_THAT(error_for(std::string("\xFE\xFF\0M\0,", 6)), HasSubstr("not UTF-8: UTF-16"));
  EXPECT_THAT(error_for(std::string(kHeader) + "8,512,640,4,H\xE9llo\n"),
              HasSubstr("rows.csv:2: not UTF-8"));
}

constexpr char kAttention[] =
    "attention_type,bs,q_lengths,kv_lengths,nh,nkv,hd,avg_duration,hardware\n";

TEST(HardInputs, C02ListsInQuotesAreRead) {
  const Dataset data = read(std::string(kAttention) +
                                "fa2_ragged,3,\"[9,40,7]\",\"[9,40,7]\",8,2,64,18,A100\n"
                                "fa2_ragged,3,\"[ 9 , 40,7 ]\",\"[9, 40, 7]\",8,2,64,18,A100\n"
                                "fa2_paged,1,[1],[333],8,2,64,9,A100\n"
                                "fa2_paged,1,\"[1]\",\"[333 ]\",8,2,64,9,A100\n",
                            "attn");
  ASSERT_EQ(data.rows(), 4u);
  for (std::size_t i = 0; i < data.width(); ++i) {
    EXPECT_EQ(data.features[i], data.features[data.width() + i]);
    EXPECT_EQ(data.features[2 * data.width() + i], data.features[3 * data.width() + i]);
  }
}

TEST(HardInputs, C02BadListsAreListedWithLineAndReason) {
  const Dataset data = read(std::string(kAttention) +
                                "fa2_ragged,2,\"[9,40,7]\",\"[9,40,7]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,40]\",\"[9]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,40\",\"[9,40]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"9,40]\",\"[9,40]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,[9,40],[9,40],8,2,64,18,A100\n"
                                "fa2_ragged,0,\"[]\",\"[]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,4o]\",\"[9,40]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,,40]\",\"[9,40]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,-1]\",\"[9,40]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,40]]\",\"[9,40]\",8,2,64,18,A100\n"
                                "fa2_ragged,2,\"[9,40]\",\"[9,40]\",8,2,64,18,A100\n",
                            "attn");
  EXPECT_EQ(data.line, std::vector<std::size_t>{12});
  const std::string text = examples(data);
  for (int line = 2; line <= 11; ++line) {
    EXPECT_THAT(text, HasSubstr("rows.csv:" + std::to_string(line) + ":"));
  }
  EXPECT_THAT(text,
              AllOf(HasSubstr("has 3 entries, expected bs = 2"), HasSubstr("is a list without"),
                    HasSubstr("element 2 is \"4o\""), HasSubstr("expected a list of integers")));
}

TEST(HardInputs, C03UnusableValuesAreCountedByReason) {
  const std::string good = "24,3072,1024,9.5,A100\n8,512,640,4.25,A100\n";
  const std::string bad =
      "24,3072,1024,NaN,A100\n24,3072,1024,-nan,A100\n24,3072,1024,Infinity,A100\n"
      "24,3072,1024,,A100\n24,3072,1024,0.0,A100\n24,3072,1024,-0.5,A100\n"
      "24,3072,1024,null,A100\n24,3072,1024,#DIV/0!,A100\n24,3072,1024,1e500,A100\n"
      ",3072,1024,9.5,A100\n24,-1,1024,9.5,A100\n24,3072,inf,9.5,A100\n";
  const Dataset data = read(kHeader + good + bad);
  expect_same_rows(data, read(kHeader + good));
  EXPECT_THAT(dropped(data), AllOf(Contains(Pair("avg_duration is empty", 1)),
                                   Contains(Pair("avg_duration is not positive", 2)),
                                   Contains(Pair("no valid problem", 3))));
  std::int64_t rows = 0;
  for (const auto& [reason, count] : dropped(data)) rows += count;
  EXPECT_EQ(rows, 12);
  EXPECT_THAT(error_for(kHeader + bad), HasSubstr("no usable rows for operator gemm"));
}

TEST(HardInputs, C05DurationsInAnotherUnitAreFasterThanThePeak) {
  const auto rows = [](double unit, double other_unit) {
    std::string csv = kHeader;
    const double us[] = {11, 30, 95, 140};
    for (int i = 0; i < 4; ++i) {
      csv += std::to_string(1024 * (i + 1)) + ",4096,2048," +
             std::to_string(us[i] * (i % 2 == 0 ? unit : other_unit) * (i + 6)) + ",A100\n";
    }
    return csv;
  };
  EXPECT_THAT(read(rows(1, 1)).notes, IsEmpty());
  EXPECT_THAT(error_for(rows(1e-3, 1e-3)),
              AllOf(HasSubstr("faster than the hardware's peak in 4 rows"),
                    HasSubstr("are durations in microseconds?")));
  EXPECT_THAT(error_for(rows(1e-3, 1)), HasSubstr("faster than the hardware's peak in 2 rows"));
  EXPECT_THAT(error_for(rows(1e-6, 1e-6)), HasSubstr("faster than the hardware's peak in 4 rows"));
}

TEST(HardInputs, C05MemoryBoundRowsInAnotherUnitAreFasterThanTheCache) {
  // 64 requests of 4096 cached tokens: 268 MB, at least 83 us from the A100's L2.
  std::string lengths = "[4096", ones = "[1";
  for (int i = 1; i < 64; ++i) {
    lengths += ",4096";
    ones += ",1";
  }
  const std::string row = "fa2_paged,64,\"" + ones + "]\",\"" + lengths + "]\",32,8,128,";
  EXPECT_EQ(read(kAttention + row + "850,A100\n", "attn").rows(), 1u);
  EXPECT_THAT(error_for(kAttention + row + "0.85,A100\n", "attn"),
              HasSubstr("faster than the hardware's peak in 1 rows"));
  EXPECT_THAT(error_for("seq,dim,avg_duration,hardware\n4096,8192,0.09,A100\n", "rmsnorm"),
              HasSubstr("faster than the hardware's peak in 1 rows"));
}

TEST(HardInputs, C06SpellingsOfNumbersAreOne) {
  const Dataset data = read(std::string(kHeader) +
                            "24.0,3072,1024,9.5,A100\n2.4e1,3.072E3,1024,9.5E+00,A100\n"
                            "+24,03072,1024.000,9.50,A100\n 24 ,3072,1024,95e-1,A100\n");
  ASSERT_EQ(data.rows(), 4u);
  for (std::size_t row = 1; row < 4; ++row) {
    EXPECT_EQ(data.duration_us[row], 9.5);
    for (std::size_t i = 0; i < data.width(); ++i) {
      EXPECT_EQ(data.features[row * data.width() + i], data.features[i]);
    }
  }
}

TEST(HardInputs, C06ThousandsAndDecimalCommasAreNamed) {
  EXPECT_THAT(error_for(std::string(kHeader) + "\"3,072\",512,640,4.25,A100\n"),
              AllOf(HasSubstr("rows.csv:2: column 'M'"), HasSubstr("\"3,072\"")));
  EXPECT_THAT(error_for(std::string(kHeader) + "8,512,640,\"1,024.5\",A100\n"),
              AllOf(HasSubstr("rows.csv:2: column 'avg_duration'"), HasSubstr("\"1,024.5\"")));
  EXPECT_THAT(error_for(std::string(kHeader) + "8,512,640,\"4,25\",A100\n"), HasSubstr("\"4,25\""));
  EXPECT_THAT(error_for("M;N;K;avg_duration;hardware\n8;512;640;4,25;A100\n"),
              AllOf(HasSubstr("no column 'M'"), HasSubstr("separator ;?")));
  EXPECT_THAT(error_for("M\tN\tK\tavg_duration\thardware\n8\t512\t640\t4.25\tA100\n"),
              HasSubstr("no column 'M'"));
}

class DecimalComma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(HardInputs, C06EveryLocaleReadsAndWritesTheSame) {
  const std::string csv = std::string(kHeader) + "8,512,640,4.25,A100\n";
  const Dataset plain = read(csv);
  PW_DECIMAL_COMMA_OR_SKIP(german);
  const std::locale before = std::locale::global({std::locale::classic(), new DecimalComma});
  expect_same_rows(plain, read(csv));
  EXPECT_EQ(parse_json("[1.5, 2048]", "f")[0], 1.5);
  EXPECT_EQ(to_json_text({1234.5}), "[\n  1234.5\n]");
  std::locale::global(before);
}

TEST(HardInputs, C07LongLinesAreOneRow) {
  for (const int requests : {20000, 300000}) {  // up to 2.4 MB
    std::string lengths = "[77";
    for (int i = 1; i < requests; ++i) lengths += ",77";
    const std::string row = "fa2_ragged," + std::to_string(requests) + ",\"" + lengths + "]\",\"" +
                            lengths + "]\",8,2,64,9000000,A100\n";
    const Dataset data = read(kAttention + row + "fa2_ragged,1,[5],[5],8,2,64,9,A100\n", "attn");
    EXPECT_EQ(data.line, (std::vector<std::size_t>{2, 3}));
  }
}

TEST(HardInputs, C07AnUnclosedQuoteIsFoundWhereItOpens) {
  std::string csv = std::string(kAttention) + "fa2_ragged,1,\"[5],[5],8,2,64,9,A100\n";
  for (int i = 0; i < 50000; ++i) csv += "fa2_ragged,1,[5],[5],8,2,64,9,A100\n";
  EXPECT_THAT(error_for(csv, "attn"), HasSubstr("rows.csv:2: a quote opens in field 3"));
}

TEST(HardInputs, C08GpuNamesMatchWholeOrNotAtAll) {
  const std::string row = "24,3072,1024,9.5,";
  const Dataset data =
      read(kHeader + row + "NVIDIA A100-SXM4-80GB\n" + row + "nvidia a100-sxm4-80gb\n" + row +
           " NVIDIA  A100-SXM4-80GB \n" + row + "a100\n" + row + "NVIDIA L20\n" + row +
           "NVIDIA L2\n" + row + "NVIDIA A10\n" + row + "NVIDIA A100-PCIE-40GB\n" + row +
           "NVIDIA H200 NVL\n" + row + "Tesla V100\n");
  EXPECT_THAT(data.hardware_names, ElementsAre("NVIDIA A100-SXM4-80GB", "NVIDIA L20"));
  EXPECT_EQ(data.hardware, (std::vector<std::uint32_t>{0, 0, 0, 0, 1}));
  for (const char* name :
       {"NVIDIA L2", "NVIDIA A10", "NVIDIA A100-PCIE-40GB", "NVIDIA H200 NVL", "Tesla V100"}) {
    EXPECT_THAT(dropped(data), Contains(Pair("unknown GPU '" + std::string(name) + "'", 1)));
  }
  EXPECT_THAT(examples(data), HasSubstr("knows A100, A40, B200"));
  EXPECT_THAT(error_for(kHeader + row + "Tesla V100\n"), HasSubstr("unknown GPU 'Tesla V100'"));
}

TEST(HardInputs, C11BrokenTablesAreNamed) {
  const struct {
    std::string csv;
    const char* message;
  } cases[] = {
      {"M,N,avg_duration,hardware\n24,3072,9.5,A100\n", "no column 'K'"},
      {"M,N,K,avg_duraton,Hardware\n24,3072,1024,9.5,A100\n",
       "the header is \"M, N, K, avg_duraton, Hardware\""},
      {"M,N,K,avg_duration,avg_duration,hardware\n24,3072,1024,9.5,1,A100\n",
       "the column 'avg_duration' occurs twice"},
      {std::string(kHeader) + "24,3072,10", "rows.csv:2: 3 fields, expected 5"},
      {std::string(kHeader) + "24,3072,1024,9.5,A100" + std::string(4, '\0') + "\n",
       "rows.csv:2: a NUL byte"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"},
      {"{\"M\": 24}\n", "JSON"},
      {"", "the file is empty"},
  };
  for (const auto& item : cases) EXPECT_THAT(error_for(item.csv), HasSubstr(item.message));
}

TEST(HardInputs, C11RaggedRowsAreListedAndOrderIsFree) {
  const Dataset data = read(std::string(kHeader) +
                            "24,3072,1024,9.5\n24,3072,1024,9.5,A100,more\n24,3072,1024,9.5,A100\n"
                            "24,3072,10");
  EXPECT_EQ(data.line, std::vector<std::size_t>{4});
  EXPECT_THAT(examples(data), AllOf(HasSubstr("rows.csv:2: 4 fields, expected 5"),
                                    HasSubstr("rows.csv:3: 6 fields, expected 5"),
                                    HasSubstr("rows.csv:5: 3 fields, expected 5")));
  expect_same_rows(read("note,hardware,K,avg_duration,N,M\nx,A100,1024,9.5,3072,24\n"),
                   read(std::string(kHeader) + "24,3072,1024,9.5,A100\n"));
}

TEST(HardInputs, F04GroupsThatAreNoWholeNumberAreListed) {
  const Dataset data =
      read(std::string(kAttention) + "fa2_ragged,1,[5],[5],12,5,64,9,A100\n" +
               "fa2_ragged,1,[5],[5],12,0,64,9,A100\n" + "fa2_ragged,1,[5],[5],12,24,64,9,A100\n" +
               "fa2_ragged,1,[5],[5],12,4,64,9,A100\n",
           "attn");
  EXPECT_EQ(data.line, std::vector<std::size_t>{5});
  EXPECT_THAT(examples(data), AllOf(HasSubstr("rows.csv:2: column 'nkv' is 5 with nh = 12"),
                                    HasSubstr("rows.csv:3: column 'nkv' is 0"),
                                    HasSubstr("rows.csv:4: column 'nkv' is 24 with nh = 12")));
}

}  // namespace
}  // namespace pw
