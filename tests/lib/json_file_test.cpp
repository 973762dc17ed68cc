#include "io/json_file.h"

#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;

TEST(ParseJson, KeepsTheOrderOfKeysAndSkipsTheByteOrderMark) {
  const Json json = parse_json("\xEF\xBB\xBF{\"b\": 1, \"a\": [true, null, 1.5]}", "f");
  EXPECT_EQ(json.begin().key(), "b");
  EXPECT_EQ(json["a"][2], 1.5);
}

TEST(ParseJson, ErrorsNameFileAndLine) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"{\n  \"a\": 1,\n  \"b\":", "f:3: unexpected end of input"},
      {"{\n  \"a\": 1,\n  \"b\": 2\n", "f:3: unexpected end of input"},
      {"{\n  \"a\": NaN\n}", "f:2: invalid literal; last read: '\"a\": N'"},
      {"{\n  \"a\": 1e400\n}", "f:2: number overflow parsing '1e400'"},
      {"{\"a\": 1}\n{\"a\": 2}", "f:2: unexpected '{'; expected end of input"},
      {"{\"a\": 1,}", "f:1: unexpected '}'; expected string literal"},
      {"[1\n2]", "f:2: unexpected number literal; expected ']'"},
      {"a,b\n1,2", "f:1: invalid literal"},
  };
  for (const auto& item : cases) {
    EXPECT_THAT(error_of([&] { parse_json(item.text, "f"); }), testing::StartsWith(item.message));
  }
}

TEST(ParseJson, RefusesAKeyThatOccursTwiceInOneObject) {
  EXPECT_EQ(error_of([] { parse_json("{\"a\": {\"x\": 1},\n \"b\": 2,\n \"a\": 3}", "f"); }),
            "f:3: the key \"a\" occurs twice in one object");
  EXPECT_EQ(error_of([] { parse_json("[{\"a\": {\"x\": 1,\n\"x\": 1}}]", "f"); }),
            "f:2: the key \"x\" occurs twice in one object");
  EXPECT_NO_THROW(parse_json("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 2}]}", "f"));
}

TEST(ParseJson, RefusesDeepNesting) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + '\n' + std::string(levels, ']');
  };
  EXPECT_EQ(error_of([&] { parse_json(nested(100), "f"); }), "(no DataError)");
  EXPECT_EQ(error_of([&] { parse_json(nested(1000000), "f"); }),
            "f:1: nested more than 100 levels deep");
}

TEST(ReadJson, ReadsAFileAndNamesIt) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_json(folder.file("a.json", "{\"x\": 3}"))["x"], 3);
  const auto empty = folder.file("empty.json", "");
  EXPECT_EQ(error_of([&] { read_json(empty); }), empty.string() + ": the file is empty");
  EXPECT_THAT(error_of([&] { read_json(folder.path() / "no.json"); }), HasSubstr("no.json"));
}

class JsonFieldsTest : public testing::Test {
 protected:
  const Json json_ = parse_json(
      R"({"four": 4, "four_point_zero": 4.0, "negative": -3, "half": 4.5, "huge": 1e30,
          "most": 9223372036854775807, "too_big": 9223372036854775808,
          "too_big_float": 9223372036854775808.0, "least": -9223372036854775808,
          "string": "x", "empty": "", "null": null, "true": true, "zero": 0, "one": 1,
          "list": [1, 2.0, 3], "bad_list": [1, "x"], "object": {"a": 1}, "none": []})",
      "a.json");
  const JsonFields fields_{json_, "a.json"};
};

TEST_F(JsonFieldsTest, ReadsValues) {
  EXPECT_EQ(fields_.integer("four"), 4);
  EXPECT_EQ(fields_.integer("four_point_zero"), 4);
  EXPECT_EQ(fields_.integer("negative"), -3);
  EXPECT_EQ(fields_.integer("most"), INT64_MAX);
  EXPECT_EQ(fields_.integer("least"), INT64_MIN);
  EXPECT_EQ(fields_.number("half"), 4.5);
  EXPECT_EQ(fields_.number("four"), 4.0);
  EXPECT_EQ(fields_.text("string"), "x");
  EXPECT_TRUE(fields_.flag("true"));
  EXPECT_TRUE(fields_.flag("one"));
  EXPECT_FALSE(fields_.flag("zero"));
  EXPECT_EQ(fields_.integers("list"), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_TRUE(fields_.integers("none").empty());
  EXPECT_EQ(fields_.object("object").size(), 1u);
  EXPECT_EQ(fields_.array("list").size(), 3u);
}

TEST_F(JsonFieldsTest, HasMeansPresentAndNotNull) {
  EXPECT_TRUE(fields_.has("zero"));
  EXPECT_TRUE(fields_.has("empty"));
  EXPECT_FALSE(fields_.has("null"));
  EXPECT_FALSE(fields_.has("absent"));
}

TEST_F(JsonFieldsTest, MessagesNameFieldFoundAndExpected) {
  const auto integer = [&](const char* name) { return error_of([&] { fields_.integer(name); }); };
  EXPECT_EQ(integer("string"), "a.json: string is \"x\" (a string), expected an integer");
  EXPECT_EQ(integer("true"), "a.json: true is true (a boolean), expected an integer");
  EXPECT_EQ(integer("null"), "a.json: null is null, expected an integer");
  EXPECT_EQ(integer("absent"), "a.json: absent is missing");
  EXPECT_EQ(integer("object"), "a.json: object is an object, expected an integer");
  EXPECT_EQ(integer("half"), "a.json: half is 4.5, expected an integer");
  EXPECT_EQ(integer("huge"), "a.json: huge is 1e+30, expected an integer");
  EXPECT_EQ(integer("too_big"),
            "a.json: too_big is 9223372036854775808, expected an integer below 2^63");
  EXPECT_THAT(integer("too_big_float"), HasSubstr("expected an integer"));
  EXPECT_EQ(error_of([&] { fields_.number("string"); }),
            "a.json: string is \"x\" (a string), expected a number");
  EXPECT_EQ(error_of([&] { fields_.flag("four"); }), "a.json: four is 4, expected true or false");
  EXPECT_EQ(error_of([&] { fields_.flag("string"); }),
            "a.json: string is \"x\" (a string), expected true or false");
  EXPECT_EQ(error_of([&] { fields_.text("four"); }),
            "a.json: four is 4, expected a text that is not empty");
  EXPECT_EQ(error_of([&] { fields_.text("empty"); }),
            "a.json: empty is \"\" (a string), expected a text that is not empty");
  EXPECT_EQ(error_of([&] { fields_.integers("bad_list"); }),
            "a.json: bad_list[1] is \"x\" (a string), expected an integer");
  EXPECT_EQ(error_of([&] { fields_.integers("four"); }), "a.json: four is 4, expected a list");
  EXPECT_EQ(error_of([&] { fields_.object("list"); }),
            "a.json: list is a list, expected an object");
}

TEST_F(JsonFieldsTest, PathsInsideAFileAreJoinedByPoints) {
  const JsonFields inner(json_["object"], "a.json: iterations[3].gemm[0]");
  EXPECT_EQ(inner.where("m"), "a.json: iterations[3].gemm[0].m");
  EXPECT_EQ(error_of([&] { JsonFields(json_["list"], "a.json: x"); }),
            "a.json: x is a list, expected an object");
}

}  // namespace
}  // namespace pw
