#include <cstdint>
#include <cstdlib>
#include <locale>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "io/numbers.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class CsvRowTest : public testing::Test {
 protected:
  // A table with one row, whose column "x" holds the cell.
  CsvTable table_of(const std::string& cell) const {
    return CsvTable::read(folder_.file("t.csv", "name,x\nr," + csv_cell(cell) + "\n"));
  }
  std::int64_t integer(const std::string& cell) const {
    return CsvRow(table_of(cell), 0).integer("x");
  }
  double number(const std::string& cell) const { return CsvRow(table_of(cell), 0).number("x"); }
  bool flag(const std::string& cell) const { return CsvRow(table_of(cell), 0).flag("x"); }
  std::vector<std::int64_t> integers(const std::string& cell) const {
    return CsvRow(table_of(cell), 0).integers("x");
  }
  const TemporaryFolder folder_;
};

// Read as the C library reads them, whatever their number of digits.
TEST(CsvRow, DecimalsAreRoundedOnce) {
  const TemporaryFolder folder;
  std::mt19937_64 random(7);
  std::string csv = "x\n";
  std::vector<std::string> texts = {
      "0.1",      "9007199254740992",      "9007199254740993",    "0.30000000000000004",
      "00012.50", "123456789012345678",    "1234567890123456789", "0.00000000000000001",
      "5e-324",   "1.7976931348623157e308"};
  for (int i = 0; i < 2000; ++i) {
    std::string digits = std::to_string(random() >> (random() % 64));
    if (digits.size() > 1) digits.insert(1 + random() % (digits.size() - 1), ".");
    texts.push_back(digits);
  }
  for (const std::string& text : texts) csv += text + "\n";
  const CsvTable table = CsvTable::read(folder.file("t.csv", csv));
  for (std::size_t row = 0; row < texts.size(); ++row) {
    EXPECT_EQ(CsvRow(table, row).number("x"), std::strtod(texts[row].c_str(), nullptr))
        << texts[row];
  }
}

// Any byte at any place of a number makes it the number that the C library reads, or none.
TEST(CsvRow, NoByteOfANumberIsOverlooked) {
  for (const std::string number : {"7", "16384.0", "2147483648.0", "13443.28205128205",
                                   "0.5377943545731864", "123456789012345678"}) {
    for (std::size_t at = 0; at < number.size(); ++at) {
      for (int byte = 1; byte < 256; ++byte) {
        std::string text = number;
        text[at] = static_cast<char>(byte);
        if (text.front() == '+' || text.find_first_of(" \t\n\v\f\rxXeE") < text.size()) continue;
        char* end = nullptr;
        const double expected = std::strtod(text.c_str(), &end);
        const auto found = parse_number(text);
        ASSERT_EQ(found.has_value(), end == text.c_str() + text.size()) << text;
        if (found) {
          ASSERT_EQ(*found, expected) << text;
        }
      }
    }
  }
}

TEST_F(CsvRowTest, ReadsIntegers) {
  const std::pair<const char*, std::int64_t> good[] = {{"16", 16},
                                                       {"16.0", 16},
                                                       {"1.6e1", 16},
                                                       {"+16", 16},
                                                       {"0016", 16},
                                                       {"-3", -3},
                                                       {"1e3", 1000},
                                                       {"9223372036854775807", INT64_MAX},
                                                       {"9007199254740991.0", 9007199254740991}};
  for (const auto& [cell, expected] : good) EXPECT_EQ(integer(cell), expected) << cell;
  for (const char* cell : {"1e30", "4,096", "12.5", "x", "16x", "1 6", "nan", "inf", "0x10", "+-1",
                           "++1", "-", "9223372036854775808", "9007199254740993.0", "1e400"}) {
    EXPECT_THAT(
        error_of([&] { integer(cell); }),
        EndsWith("t.csv:2: column 'x' is \"" + std::string(cell) + "\", expected an integer"));
  }
}

TEST_F(CsvRowTest, ReadsNumbers) {
  const std::pair<const char*, double> good[] = {{"8.3", 8.3},  {"8.3E+00", 8.3},  {"8.30", 8.3},
                                                 {"+8.3", 8.3}, {"-1e-3", -0.001}, {"7", 7.0},
                                                 {"0.1", 0.1},  {"1.0e-03", 0.001}};
  for (const auto& [cell, expected] : good) EXPECT_EQ(number(cell), expected) << cell;
  for (const char* cell : {"1,208.5", "8,3", "nan", "NaN", "inf", "-inf", "1e400", "N/A", "1.2.3",
                           "0x1p3", "-", "1e", "8.3 us"}) {
    EXPECT_THAT(
        error_of([&] { number(cell); }),
        EndsWith("t.csv:2: column 'x' is \"" + std::string(cell) + "\", expected a finite number"));
  }
}

TEST_F(CsvRowTest, ReadsFlags) {
  for (const char* cell : {"1", "true", "True"}) EXPECT_TRUE(flag(cell));
  for (const char* cell : {"0", "false", "False"}) EXPECT_FALSE(flag(cell));
  for (const char* cell : {"2", "yes", "1.5"}) {
    EXPECT_THAT(error_of([&] { flag(cell); }), EndsWith("expected 0, 1, true or false"));
  }
}

TEST_F(CsvRowTest, ReadsLists) {
  EXPECT_THAT(integers("[1,2, 3]"), ElementsAre(1, 2, 3));
  EXPECT_THAT(integers("[ 6 , 70.0 ]"), ElementsAre(6, 70));
  EXPECT_THAT(integers("[1]"), ElementsAre(1));
  EXPECT_THAT(integers("[ ]"), IsEmpty());
  const std::pair<const char*, const char*> bad[] = {
      {"[6,70", " is \"[6,70\", expected a list of integers such as [1,2]"},
      {"6", " is \"6\", expected a list of integers such as [1,2]"},
      {"[", " is \"[\", expected a list of integers such as [1,2]"},
      {"[6,x]", ", element 2 is \"x\", expected an integer"},
      {"[6,]", ", element 2 is \"\", expected an integer"},
      {"[,6]", ", element 1 is \"\", expected an integer"},
      {"[6 7]", ", element 1 is \"6 7\", expected an integer"},
      {"[[6]]", ", element 1 is \"[6]\", expected an integer"},
      {"[6.5]", ", element 1 is \"6.5\", expected an integer"}};
  for (const auto& [cell, message] : bad) {
    EXPECT_THAT(error_of([&, c = cell] { integers(c); }),
                EndsWith("t.csv:2: column 'x'" + std::string(message)));
  }
}

TEST_F(CsvRowTest, EmptyCellsAndAbsentColumnsAreErrors) {
  const CsvTable table = table_of("");
  const CsvRow row(table, 0);
  EXPECT_TRUE(row.has("name"));
  EXPECT_FALSE(row.has("x"));
  EXPECT_FALSE(row.has("y"));
  EXPECT_EQ(row.text("name"), "r");
  const std::string empty = "t.csv:2: column 'x' is empty";
  EXPECT_THAT(error_of([&] { row.integer("x"); }), EndsWith(empty));
  EXPECT_THAT(error_of([&] { row.number("x"); }), EndsWith(empty));
  EXPECT_THAT(error_of([&] { row.flag("x"); }), EndsWith(empty));
  EXPECT_THAT(error_of([&] { row.text("x"); }), EndsWith(empty));
  EXPECT_THAT(error_of([&] { row.integers("x"); }), EndsWith(empty));
  EXPECT_THAT(error_of([&] { row.number("y"); }),
              EndsWith("t.csv: no column 'y'; the header is \"name, x\""));
}

TEST_F(CsvRowTest, LongCellsAreCutInMessagesBetweenCharacters) {
  const auto accents = [](int count) {
    std::string text;
    while (count-- > 0) text += "\xC3\xA9";
    return text;
  };
  EXPECT_THAT(error_of([&] { number(accents(100)); }),
              EndsWith("\"" + accents(30) + "...\", expected a finite number"));
  EXPECT_THAT(error_of([&] { number("x" + accents(100)); }),
              EndsWith("\"x" + accents(30) + "...\", expected a finite number"));
}

class DecimalComma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(CsvRowTest, LocalesChangeNothing) {
  const std::locale before = std::locale::global({std::locale::classic(), new DecimalComma});
  EXPECT_EQ(number("8.3"), 8.3);
  EXPECT_EQ(integer("2048"), 2048);
  EXPECT_NE(error_of([&] { number("8,3"); }), "(no DataError)");
  EXPECT_THAT(error_of([&] { integer("x"); }), HasSubstr("t.csv:2: "));
  std::locale::global(before);
}

}  // namespace
}  // namespace pw
