#include "io/text.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace pw {
namespace {

using namespace std::string_literals;

TEST(CheckedText, AcceptsUtf8AndSkipsTheByteOrderMark) {
  EXPECT_EQ(checked_text("\xEF\xBB\xBF{}", "f"), "{}");
  for (const char* text : {"a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                           "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(checked_text(text, "f"), text);
  }
}

TEST(CheckedText, RefusesWhatIsNoText) {
  const struct {
    std::string bytes;
    std::string message;
  } cases[] = {
      {"", "f: the file is empty"},
      {"\xEF\xBB\xBF\r\n \t\n", "f: the file is empty"},
      {"\xFF\xFE"s + "a\0"s, "f: not UTF-8: UTF-16; save the file as UTF-8"},
      {"\xFE\xFF"s + "\0a"s, "f: not UTF-8: UTF-16; save the file as UTF-8"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
       "f: a Git LFS pointer, not the file itself; run `git lfs pull`"},
      {"a\nb\0"s, "f:2: a NUL byte, expected text"},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(error_of([&] { checked_text(item.bytes, "f"); }), item.message);
  }
}

TEST(CheckedText, RefusesMalformedUtf8WithItsLine) {
  // Stray continuation, overlong forms, surrogate, above U+10FFFF, cut, Latin-1.
  for (const char* bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3", "M\xFCller"}) {
    EXPECT_EQ(error_of([&] { checked_text("a\nb\n"s + bytes, "f"); }),
              "f:3: not UTF-8; save the file as UTF-8");
  }
}

TEST(LineAt, CountsFromOne) {
  const std::string_view text = "a\nb\n";
  EXPECT_EQ(line_at(text, 0), 1u);
  EXPECT_EQ(line_at(text, 1), 1u);
  EXPECT_EQ(line_at(text, 2), 2u);
  EXPECT_EQ(line_at(text, 99), 2u);
  EXPECT_EQ(line_at("", 0), 1u);
}

TEST(Trimmed, DropsSpacesAndTabsAtTheEnds) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(without_leading_blanks(" \ta "), "a ");
}

TEST(Shown, StaysOnOneLine) {
  EXPECT_EQ(shown("a\nb\x7F\xC3\xA9"), "\"a?b?\xC3\xA9\"");
  EXPECT_EQ(shown("\xC3\xA9\xC3\xA9z", 3), "\"\xC3\xA9\xC3\xA9...\"");
  EXPECT_EQ(shown("abc", 3), "\"abc\"");
}

TEST(ExactInteger, IsOneThatADoubleCannotMisstate) {
  EXPECT_EQ(exact_integer(-3.0), -3);
  EXPECT_EQ(exact_integer(9007199254740991.0), 9007199254740991);
  for (const double value : {0.5, 9007199254740992.0, -1e30, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(exact_integer(value), std::nullopt);
  }
}

}  // namespace
}  // namespace pw
