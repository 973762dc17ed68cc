#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "io/json_file.h"

namespace pw {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(PythonRepr, WritesWhatPythonPrints) {
  const struct {
    double value;
    const char* text;
  } cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {12.0, "12.0"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {0.30000000000000004, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {0.00009999, "9.999e-05"},
      {1.6e-05, "1.6e-05"},
      {1e15, "1000000000000000.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {1.2345e16, "1.2345e+16"},
      {123456789012345680.0, "1.2345678901234568e+17"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
  };
  for (const auto& item : cases) EXPECT_EQ(python_repr(item.value), item.text);
}

TEST(RoundDecimals, RoundsTheExactBinaryValue) {
  const struct {
    double value;
    int decimals;
    double rounded;
  } cases[] = {
      {0.5, 0, 0.0},
      {1.5, 0, 2.0},
      {2.5, 0, 2.0},
      {0.125, 2, 0.12},
      {0.375, 2, 0.38},
      {2.675, 2, 2.67},
      {1.005, 2, 1.0},
      {-2.5, 0, -2.0},
      {1.23456, 3, 1.235},
      {12345.678901, 4, 12345.6789},
      {1e22, 3, 1e22},
      {0.0004, 3, 0.0},
      {1.7976931348623157e308, 4, 1.7976931348623157e308},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(round_decimals(item.value, item.decimals), item.rounded) << item.value;
  }
}

TEST(ToJsonText, LaysOutAsPythonDoes) {
  const Json json = {{"a", {1, 2.0, nullptr, true}},
                     {"empty", Json::array()},
                     {"none", Json::object()},
                     {"nested", {{"x", {{1}}}}},
                     {"big", 18446744073709551615u}};
  EXPECT_EQ(to_json_text(json),
            "{\n"
            "  \"a\": [\n    1,\n    2.0,\n    null,\n    true\n  ],\n"
            "  \"empty\": [],\n"
            "  \"none\": {},\n"
            "  \"nested\": {\n    \"x\": [\n      [\n        1\n      ]\n    ]\n  },\n"
            "  \"big\": 18446744073709551615\n"
            "}");
  EXPECT_EQ(to_json_text(1.5), "1.5");
}

TEST(ToJsonText, EscapesAllButPrintableAscii) {
  const Json json = "\"\\/\b\f\n\r\t\x01\x7F \xC3\xA9 \xF0\x9F\x98\x80";
  EXPECT_EQ(to_json_text(json), R"("\"\\/\b\f\n\r\t\u0001\u007f \u00e9 \ud83d\ude00")");
}

TEST(ToJsonText, RefusesNumbersThatJsonLacks) {
  for (const double value : {kInfinity, -kInfinity, kNan}) {
    EXPECT_THROW(to_json_text(Json{{"a", value}}), std::logic_error);
    EXPECT_THROW(round_decimals(value, 3), std::logic_error);
  }
}

}  // namespace
}  // namespace pw
