#include "io/numbers.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "support/decimal_comma.h"

namespace pw {
namespace {

double number(std::string_view text) { return parse_number(text).value_or(-1234); }

TEST(Numbers, AreSpeltInManyWays) {
  for (const char* text : {"16", "16.", "16.0", "+16", "0016", "1.6e1", "1.6E+01", "160e-1"}) {
    EXPECT_EQ(number(text), 16) << text;
    EXPECT_EQ(parse_integer(text), 16) << text;
  }
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("-1e-3"), -0.001);
  EXPECT_TRUE(std::signbit(number("-0")));
  for (const char* text : {"inf", "+inf", "Infinity", "INF"}) EXPECT_TRUE(std::isinf(number(text)));
  for (const char* text : {"nan", "-nan", "NaN"}) EXPECT_TRUE(std::isnan(number(text))) << text;
}

TEST(Numbers, FillTheirText) {
  for (const char* text : {"", " ", " 1", "1 ", "1,5", "1.5.", "1.2.3", "1e", "e1", "+", "-", ".",
                           "+-1", "++1", "-+1", "0x10", "1_000", "8.3 us", "x"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
    EXPECT_EQ(parse_digits(text), std::nullopt) << text;
    double ignored = 0;
    EXPECT_EQ(read_number(text, ignored), std::errc::invalid_argument) << text;
  }
}

TEST(Numbers, BeyondTheRangeAreNone) {
  double ignored = 0;
  for (const char* text : {"1e400", "+1e400", "-1e400", "1e-400"}) {
    EXPECT_EQ(read_number(text, ignored), std::errc::result_out_of_range) << text;
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
  EXPECT_EQ(read_number("1e400x", ignored), std::errc::invalid_argument);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* text : {"9223372036854775808", "9007199254740993.0", "1e30", "12.5", "inf"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Numbers, DigitsStandAlone) {
  EXPECT_EQ(parse_digits("16"), 16);
  EXPECT_EQ(parse_digits("007"), 7);
  for (const char* text : {"-1", "+1", "1.0", "1e1", "9223372036854775808"}) {
    EXPECT_EQ(parse_digits(text), std::nullopt) << text;
  }
}

TEST(Numbers, ThroughTextIsRoundedOnce) {
  EXPECT_EQ(through_text(2.5, std::chars_format::fixed, 0), 2);
  EXPECT_EQ(through_text(1.005, std::chars_format::fixed, 2), 1.0);  // below 1.005 in binary
  EXPECT_EQ(through_text(-1.7976931348623157e308, std::chars_format::fixed, 3),
            -1.7976931348623157e308);
  EXPECT_EQ(through_text(123456.7, std::chars_format::scientific, 5), 123457);
  EXPECT_EQ(through_text(1.234567e-200, std::chars_format::scientific, 5), 1.23457e-200);
}

TEST(Numbers, LocalesChangeNothing) {
  PW_DECIMAL_COMMA_OR_SKIP(german);
  EXPECT_EQ(number("8.3"), 8.3);
  EXPECT_EQ(number("0.30000000000000004"), 0.30000000000000004);
  EXPECT_EQ(parse_number("8,3"), std::nullopt);
  EXPECT_EQ(parse_number("1.234,5"), std::nullopt);
  EXPECT_EQ(through_text(0.125, std::chars_format::fixed, 2), 0.12);
}

}  // namespace
}  // namespace pw
