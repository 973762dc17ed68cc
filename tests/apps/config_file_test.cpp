#include "config_file.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A program with one command that takes options of every shape.
class ConfigFileTest : public testing::Test {
 protected:
  ConfigFileTest() {
    cli::App* fit = app_.add_subcommand("fit", "");
    add_config_option(*fit);
    fit->add_option("--train", train, "")->required();
    fit->add_option("--learning-rate", learning_rate, "");
    fit->add_option("--hidden", hidden, "");
    fit->add_option("--group-by", group_by, "")->delimiter(',');
    fit->add_option("--where", where, "")->take_all()->expected(1);
    fit->add_flag("--quick", quick, "");
    app_.add_subcommand("other", "");
  }

  void parse(const std::string& json, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"fit", "--config", folder_.file("c.json", json).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments = with_config_file(app_, arguments);
    app_.parse(arguments);
  }
  std::string parse_error(const std::string& json) {
    return error_of([&] { parse(json); });
  }

  const TemporaryFolder folder_;
  cli::App app_{"", "program"};
  std::vector<std::string> train, group_by, where;
  std::vector<std::int64_t> hidden;
  double learning_rate = 0;
  bool quick = false;
};

TEST_F(ConfigFileTest, SetsOptionsOfEveryShape) {
  parse(R"({"train": ["a.csv", "b c.csv"], "learning_rate": 1e-4, "hidden": [128, 64],
            "group-by": "M,N", "where": ["x=1", "y!=2"], "quick": true})");
  EXPECT_THAT(train, ElementsAre("a.csv", "b c.csv"));
  EXPECT_EQ(learning_rate, 1e-4);
  EXPECT_THAT(hidden, ElementsAre(128, 64));
  EXPECT_THAT(group_by, ElementsAre("M", "N"));
  EXPECT_THAT(where, ElementsAre("x=1", "y!=2"));
  EXPECT_TRUE(quick);
}

TEST_F(ConfigFileTest, TheCommandLineWins) {
  parse(R"({"train": ["a.csv"], "learning-rate": 1, "hidden": [128, 64], "quick": false})",
        {"--hidden", "8", "--learning-rate=2"});
  EXPECT_THAT(train, ElementsAre("a.csv"));
  EXPECT_EQ(learning_rate, 2);
  EXPECT_THAT(hidden, ElementsAre(8));
  EXPECT_FALSE(quick);
}

TEST_F(ConfigFileTest, NamesWhatIsWrong) {
  EXPECT_THAT(parse_error(R"({"learning-rat": 1})"),
              AllOf(HasSubstr("c.json"), HasSubstr("'learning-rat'"),
                    HasSubstr("train, learning-rate, hidden, group-by, where, quick")));
  EXPECT_THAT(parse_error(R"({"config": "d.json"})"), HasSubstr("'config'"));
  EXPECT_THAT(parse_error(R"({"quick": 1})"), HasSubstr("true or false"));
  EXPECT_THAT(parse_error(R"({"learning-rate": true})"), HasSubstr("'learning-rate' is true"));
  EXPECT_THAT(parse_error(R"({"hidden": [[1]]})"), HasSubstr("'hidden' is [1]"));
  EXPECT_THAT(parse_error("[1]"), HasSubstr("expected an object"));
  EXPECT_THAT(parse_error("{"), HasSubstr("c.json"));
  EXPECT_THROW(parse(R"({"train": "a.csv", "learning-rate": "fast"})"), CLI::ParseError);
  EXPECT_THROW(parse(R"({"learning-rate": 1})"), CLI::RequiredError);
}

TEST_F(ConfigFileTest, OtherArgumentsStayAsTheyAre) {
  EXPECT_THAT(with_config_file(app_, {"other", "--config", "x.json"}),
              ElementsAre("other", "--config", "x.json"));
  EXPECT_THAT(with_config_file(app_, {"fit", "--train", "a"}), ElementsAre("fit", "--train", "a"));
  EXPECT_TRUE(with_config_file(app_, {}).empty());
}

}  // namespace
}  // namespace pw
