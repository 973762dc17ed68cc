#include "io/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sha256.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CsvTableTest : public testing::Test {
 protected:
  CsvTable read(std::string_view text) const { return CsvTable::read(folder_.file("t.csv", text)); }
  // The error of reading the text, without the folder's name.
  std::string read_error(std::string_view text) const {
    return short_name(error_of([&] { read(text); }));
  }
  std::string short_name(const std::string& message) const {
    const std::string prefix = folder_.path().string() + "/";
    const std::size_t at = message.find(prefix);
    return at == std::string::npos ? message : message.substr(at + prefix.size());
  }
  const TemporaryFolder folder_;
};

std::vector<std::string> row(const CsvTable& table, std::size_t index) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < table.header().size(); ++i) {
    cells.emplace_back(table.cell(index, i));
  }
  return cells;
}

TEST_F(CsvTableTest, ReadsPlainRows) {
  const CsvTable table = read("M,N\n1,2\n3,4");
  EXPECT_THAT(table.header(), ElementsAre("M", "N"));
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_THAT(row(table, 0), ElementsAre("1", "2"));
  EXPECT_THAT(row(table, 1), ElementsAre("3", "4"));
  EXPECT_EQ(table.line(1), 3u);
  EXPECT_EQ(table.column("N"), 1u);
  EXPECT_EQ(table.find_column("K"), CsvTable::npos);
  EXPECT_NO_THROW(table.require_no_bad_lines());
}

TEST_F(CsvTableTest, TreatsMarkCrlfBlanksAndBlankLinesAsNothing) {
  const CsvTable table = read("\xEF\xBB\xBF\r\n M ,\tN\r\n\r\n 1 , 2\t\r\n   \r\n,\r\n");
  EXPECT_THAT(table.header(), ElementsAre("M", "N"));
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_THAT(row(table, 0), ElementsAre("1", "2"));
  EXPECT_THAT(row(table, 1), ElementsAre("", ""));
  EXPECT_EQ(table.line(0), 4u);
  EXPECT_EQ(table.line(1), 6u);
}

TEST_F(CsvTableTest, UnquotesFields) {
  const CsvTable table = read(
      "a,\"b,c\",d\n"
      "\"[1, 2]\", \"say \"\"hi\"\"\" ,\"\"\n"
      "5\" wide,\" kept \",\"\"\"\"\n");
  EXPECT_THAT(table.header(), ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(row(table, 0), ElementsAre("[1, 2]", "say \"hi\"", ""));
  EXPECT_THAT(row(table, 1), ElementsAre("5\" wide", " kept ", "\""));
}

TEST_F(CsvTableTest, HeaderAloneIsAnEmptyTable) { EXPECT_EQ(read("M,N\n").rows(), 0u); }

TEST_F(CsvTableTest, FirstAndLastColumnsMayLackAName) {
  const CsvTable table = read(",M,N,,\n0,1,2,,\n1,3,4,,x\n");
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.cell(0, table.column("M")), "1");
  ASSERT_EQ(table.bad_lines().size(), 1u);
  EXPECT_EQ(table.bad_lines()[0].reason, "a value in a column that has no name");
  EXPECT_EQ(read_error("M,,N\n"), "t.csv:1: column 2 of the header has no name");
  EXPECT_EQ(read_error(",,\n"), "t.csv:1: the header has no names");
}

TEST_F(CsvTableTest, ListsBadLinesAndKeepsTheRest) {
  const CsvTable table = read(
      "M,N,lengths\n"
      "1,2\n"
      "1,2,3,4\n"
      "1,2,[3,4]\n"
      "1,\"2\"x,3\n"
      "7,8,9\n"
      "1,20");
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_THAT(row(table, 0), ElementsAre("7", "8", "9"));
  const std::pair<std::size_t, const char*> expected[] = {
      {2, "2 fields, expected 3"},
      {3, "4 fields, expected 3"},
      {4, "4 fields, expected 3 (is a list without quotes?)"},
      {5, "text behind the closing quote of field 2"},
      {7, "2 fields, expected 3"}};
  ASSERT_EQ(table.bad_lines().size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(table.bad_lines()[i].line, expected[i].first);
    EXPECT_EQ(table.bad_lines()[i].reason, expected[i].second);
  }
  EXPECT_EQ(short_name(error_of([&] { table.require_no_bad_lines(); })),
            "t.csv:2: 2 fields, expected 3 (and 4 more bad lines)");
}

// Commas at every place of the blocks in which a line is searched for them.
TEST_F(CsvTableTest, SplitsLongLines) {
  for (std::size_t width = 0; width < 200; ++width) {
    const std::string wide(width, 'x');
    const CsvTable table =
        read("a,b,c,d\n" + wide + ",, " + wide + " ,1\n,\t,2," + wide + "\n,," + wide + ",\n");
    ASSERT_EQ(table.rows(), 3u) << width;
    EXPECT_THAT(row(table, 2), ElementsAre("", "", wide, ""));
    EXPECT_THAT(row(table, 0), ElementsAre(wide, "", wide, "1"));
    EXPECT_THAT(row(table, 1), ElementsAre("", "", "2", wide));
  }
}

TEST_F(CsvTableTest, ReadersGiveTheRowsPartByPart) {
  CsvReader reader(folder_.file("t.csv", "\nM,note\n1,a\n\n2,3,4\n5,\"a \"\"b\"\"\"\n6,"));
  EXPECT_THAT(reader.header().header(), ElementsAre("M", "note"));
  EXPECT_EQ(reader.header().rows(), 0u);
  std::vector<CsvTable> parts;
  while (auto lines = reader.next(2)) parts.push_back(reader.rows(std::move(*lines)));
  ASSERT_EQ(parts.size(), 3u);
  ASSERT_EQ(parts[0].rows(), 1u);
  EXPECT_THAT(row(parts[0], 0), ElementsAre("1", "a"));
  EXPECT_EQ(parts[0].line(0), 3u);
  ASSERT_EQ(parts[1].rows(), 1u);
  EXPECT_THAT(row(parts[1], 0), ElementsAre("5", "a \"b\""));
  EXPECT_EQ(parts[1].line(0), 6u);
  ASSERT_EQ(parts[1].bad_lines().size(), 1u);
  EXPECT_EQ(parts[1].bad_lines()[0].line, 5u);
  EXPECT_THAT(row(parts[2], 0), ElementsAre("6", ""));
  EXPECT_FALSE(reader.next(2));
}

TEST_F(CsvTableTest, PartsOfLongLinesAreShort) {
  std::string text = "M\n";
  for (int i = 0; i < 8; ++i) text += std::string(600'000, 'x') + "\n";
  CsvReader reader(folder_.file("t.csv", text));
  std::size_t parts = 0, rows = 0;
  while (auto lines = reader.next(1000)) {
    ++parts;
    EXPECT_LE(lines->text.size(), 2'000'000u);
    rows += reader.rows(std::move(*lines)).rows();
  }
  EXPECT_EQ(parts, 4u);
  EXPECT_EQ(rows, 8u);
}

TEST_F(CsvTableTest, ReadersExpectAboutAllLinesAndHashAllBytes) {
  std::string text = "\xEF\xBB\xBFM\r\n";
  for (int i = 1000; i < 3000; ++i) text += std::to_string(i) + "\r\n";
  CsvReader reader(folder_.file("t.csv", text), Digest::sha256);
  EXPECT_EQ(reader.expected_lines(), 0u);
  reader.next(100);
  EXPECT_NEAR(static_cast<double>(reader.expected_lines()), 2000, 600);
  while (reader.next(100)) continue;
  EXPECT_EQ(reader.sha256(), sha256_hex(text));
}

// More lines than one thread splits.
TEST_F(CsvTableTest, LargeFilesReadAsSmallOnes) {
  constexpr std::size_t kRows = 9000;
  std::string text = "M,note\n";
  for (std::size_t i = 0; i < kRows; ++i) {
    text += std::to_string(i) + (i % 1000 == 999 ? ",\"a \"\"quote\"\"\"\n" : ",plain\n");
  }
  text += "1,2,3\n";
  CsvTable first = read(text);
  const CsvTable table = std::move(first);
  ASSERT_EQ(table.rows(), kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    ASSERT_EQ(table.cell(i, 0), std::to_string(i));
    ASSERT_EQ(table.cell(i, 1), i % 1000 == 999 ? "a \"quote\"" : "plain");
    ASSERT_EQ(table.line(i), i + 2);
  }
  ASSERT_EQ(table.bad_lines().size(), 1u);
  EXPECT_EQ(table.bad_lines()[0].line, kRows + 2);
  EXPECT_EQ(read_error(text + "\"open\n" + std::string(30000, 'x') + "\n\"\n"),
            "t.csv:9003: a quote opens in field 1 and is not closed in this line");
}

TEST_F(CsvTableTest, RefusesWholeFiles) {
  const struct {
    std::string_view text;
    const char* message;
  } cases[] = {
      {"", "t.csv: the file is empty"},
      {"\n \r\n", "t.csv: the file is empty"},
      {"\xFF\xFEM,N", "t.csv: not UTF-8: UTF-16; save the file as UTF-8"},
      {"M,N\n1,\xFC\n", "t.csv:2: not UTF-8; save the file as UTF-8"},
      {{"M,N\n1,2\n\0\0", 10}, "t.csv:3: a NUL byte, expected text"},
      {"version https://git-lfs.github.com/spec/v1\nsize 3\n",
       "t.csv: a Git LFS pointer, not the file itself; run `git lfs pull`"},
      {"M,N,M\n1,2,3\n", "t.csv:1: the column 'M' occurs twice in the header"},
      {"\n[{\"a\": 1}]", "t.csv:2: this looks like JSON, expected a CSV header"},
      {"M,\"N\n", "t.csv:1: the header has a quote that is not closed well"},
      // The next line has quotes too; the error must stand where the quote opens.
      {"a,b,c\n1,\"[1],[2]\n1,\"[1]\",\"[2]\"\n",
       "t.csv:2: a quote opens in field 2 and is not closed in this line"},
  };
  for (const auto& item : cases) EXPECT_EQ(read_error(item.text), item.message);
  EXPECT_THAT(error_of([] { CsvTable::read("/no/such.csv"); }), HasSubstr("/no/such.csv"));
}

TEST_F(CsvTableTest, NamesEveryAbsentColumnAndTheHeader) {
  const CsvTable table = read("m,N,Avg\n");
  EXPECT_NO_THROW(table.require_columns({"N", "m"}));
  EXPECT_EQ(short_name(error_of([&] {
              table.require_columns({"M", "N", "K", "M"});
            })),
            "t.csv: no column 'M', 'K'; the header is \"m, N, Avg\"");
  EXPECT_EQ(short_name(error_of([&] { read("M;N\n1;2\n").column("M"); })),
            "t.csv: no column 'M' (separator ;? expected commas); the header is \"M;N\"");
  EXPECT_THAT(error_of([&] { read("M\tN\n1\t2\n").column("M"); }), HasSubstr("separator tab?"));
}

TEST_F(CsvTableTest, ReadsLongLines) {
  std::string list = "[1";
  while (list.size() < 20'000'000) list += ",1000000";
  list += "]";
  const CsvTable table = read("bs,lengths\n1,\"" + list + "\"\n2,[1]\n");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_TRUE(table.cell(0, 1) == list);
  EXPECT_EQ(table.cell(1, 1), "[1]");
}

TEST_F(CsvTableTest, CellsComeBackAsWritten) {
  for (const char* text : {"plain", "a,b", "say \"hi\"", " blank ", "", "\"", "tab\t"}) {
    const CsvTable table = read("a,b\nx," + csv_cell(text) + "\n");
    EXPECT_EQ(table.cell(0, 1), text);
  }
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace pw
