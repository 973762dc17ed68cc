#include "compare/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pw {
namespace {

using testing::ElementsAre;

TEST(Svg, LinearAxesEndAtRoundValues) {
  const Axis axis = linear_axis(83, 100, 0);
  EXPECT_EQ(axis.high, 100);
  EXPECT_EQ(axis.at(0), 100);
  EXPECT_EQ(axis.at(25), 75);
  EXPECT_THAT(axis.ticks(), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(linear_axis(0.3, 0, 1).ticks().front(), 0);
  EXPECT_GE(linear_axis(0.3, 0, 1).high, 0.3);
  EXPECT_GT(linear_axis(0, 0, 1).high, 0) << "no division by zero";
}

TEST(Svg, LogarithmicAxes) {
  const Axis wide{1, 1000, 0, 300, true};
  EXPECT_NEAR(wide.at(10), 100, 1e-9);
  EXPECT_THAT(wide.ticks(), ElementsAre(1, 10, 100, 1000));
  const Axis narrow = log_axis({9, 60}, 0, 1);
  EXPECT_THAT(narrow.ticks(), ElementsAre(10, 20, 50));
  EXPECT_LT(narrow.low, 9);
  EXPECT_GT(narrow.high, 60);
}

TEST(Svg, Texts) {
  EXPECT_EQ(escape_html("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(svg_number(12.3456), "12.35");
  EXPECT_EQ(svg_number(12), "12");
  EXPECT_EQ(svg_number(100), "100");
  EXPECT_EQ(tick_label(20000), "20 000");
  EXPECT_EQ(tick_label(5000), "5000");
  EXPECT_EQ(tick_label(0.05), "0.05");
  EXPECT_EQ(svg_marker(Marker::circle, 1, 2, 3, "#fff", "a & b"),
            "<circle cx=\"1\" cy=\"2\" r=\"3\" fill=\"#fff\"><title>a &amp; b</title></circle>\n");
}

}  // namespace
}  // namespace pw
