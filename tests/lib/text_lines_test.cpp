#include "io/text_lines.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sha256.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;

// What io::LineReader takes at once, less the space for line ends.
constexpr std::size_t kPiece = (1 << 20) - 16;

class TextLinesTest : public testing::Test {
 protected:
  std::vector<std::string> lines_of(std::string_view text) const {
    TextLines lines(folder_.file("t.txt", text), Digest::sha256);
    std::vector<std::string> all;
    while (const auto line = lines.next()) all.emplace_back(*line);
    EXPECT_EQ(lines.sha256(), sha256_hex(text));
    EXPECT_EQ(lines.file_size(), text.size());
    return all;
  }
  std::string error(std::string_view text) const {
    const std::string message = error_of([&] { lines_of(text); });
    return message.substr(message.find("t.txt"));
  }
  const TemporaryFolder folder_;
};

TEST_F(TextLinesTest, EndWithLfOrCrlfOrTheFile) {
  EXPECT_THAT(lines_of("a\nb\r\n\n\r\n c"), ElementsAre("a", "b", "", "", " c"));
  EXPECT_THAT(lines_of("a"), ElementsAre("a"));
  EXPECT_THAT(lines_of("a\r"), ElementsAre("a"));
  EXPECT_THAT(lines_of("a\rb\r\r\n"), ElementsAre("a\rb\r"));
  EXPECT_THAT(lines_of("\xEF\xBB\xBF\na\n"), ElementsAre("", "a"));
}

// Every line around the length at which a piece ends, whatever stands there.
TEST_F(TextLinesTest, HaveAnyLength) {
  for (const std::string start : {"", "\xEF\xBB\xBF"}) {
    for (const std::size_t pieces : {1, 2}) {
      for (std::size_t more = 0; more < 7; ++more) {
        const std::string line(pieces * kPiece + more - 4, 'x');
        for (const std::string end : {"\n", "\r\n"}) {
          EXPECT_EQ(lines_of(start + line + end + line + end + "y"),
                    (std::vector<std::string>{line, line, "y"}))
              << line.size();
        }
        EXPECT_EQ(lines_of(start + "y\n" + line), (std::vector<std::string>{"y", line}));
        const std::string returns = line + "\rz";
        EXPECT_EQ(lines_of(returns + "\n"), (std::vector<std::string>{returns}));
      }
    }
  }
}

// More bytes than io::LineReader holds at once, none of which is lost or read twice.
TEST_F(TextLinesTest, FillFilesOfAnySize) {
  std::string text;
  std::size_t count = 0;
  while (text.size() < 70'000'000) text += std::to_string(count++) + std::string(90, '.') + "\n";
  text += "end";
  TextLines lines(folder_.file("t.txt", text));
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(lines.next(), std::to_string(i) + std::string(90, '.'));
  }
  EXPECT_EQ(lines.next(), "end");
  EXPECT_EQ(lines.next(), std::nullopt);
  EXPECT_EQ(lines.next(), std::nullopt);
}

// What the checks of text_test.cpp find, they find at any place of a long file too.
TEST_F(TextLinesTest, AreCheckedAsTheyPass) {
  const std::string many(300'000, '\n');
  EXPECT_EQ(error(""), "t.txt: the file is empty");
  EXPECT_EQ(error(many), "t.txt: the file is empty");
  EXPECT_EQ(error(many + "\0"s), "t.txt:300001: a NUL byte, expected text");
  EXPECT_EQ(error(many + "\xC3"), "t.txt:300001: not UTF-8; save the file as UTF-8");
  EXPECT_EQ(error(many + "M\xFCller\n" + many), "t.txt:300001: not UTF-8; save the file as UTF-8");
  const std::string accent = "\xE2\x82\xAC";  // whose bytes fall into two parts
  for (std::size_t before = 524'284; before < 524'291; ++before) {
    const std::string text(before, 'x');
    EXPECT_THAT(lines_of(text + accent), ElementsAre(text + accent));
    EXPECT_EQ(error(text + accent.substr(0, 2) + "x"),
              "t.txt:1: not UTF-8; save the file as UTF-8");
  }
}

TEST_F(TextLinesTest, OfFoldersAndAbsentFilesAreErrors) {
  const std::string folder = folder_.path().string();
  EXPECT_EQ(error_of([&] { TextLines{folder_.path()}; }),
            "cannot read " + folder + ": Is a directory");
  EXPECT_EQ(error_of([&] { TextLines{folder_.path() / "x"}; }),
            "cannot read " + folder + "/x: No such file or directory");
}

}  // namespace
}  // namespace pw
