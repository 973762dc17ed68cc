#include "native/script_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pw {
namespace {

// A method as LibTorch prints it.
ScriptExprPtr value_of(const std::string& body, const std::string& path = "") {
  const auto classes = parse_script_classes(
      "class Net(Module):\n"
      "  __parameters__ = [\"weight\", ]\n"
      "  weight : Tensor\n"
      "  def forward(self: __torch__.Net,\n"
      "    x: Tensor) -> Tensor:\n" +
      body);
  return returned_value(classes.at("Net").at("forward"), path);
}

std::string refusal(const std::string& body) {
  try {
    value_of(body);
  } catch (const UnknownNetwork& error) {
    return error.what();
  }
  return "(known)";
}

TEST(ScriptCode, ReplacesVariablesByWhatTheyStandFor) {
  const auto value = value_of(
      "    weight = self.weight\n"
      "    _0 = torch.relu(torch.linear(x, weight, None))\n"
      "    x0 = torch.clamp(_0, -1.5, 2e1)\n"
      "    return torch.squeeze(x0, 1)\n");
  EXPECT_TRUE(match(
      "torch.squeeze(torch.clamp(torch.relu(torch.linear(features, self.weight, None)), -1.5, 20), "
      "1)",
      value));
  EXPECT_FALSE(match(
      "torch.squeeze(torch.clamp(torch.relu(torch.linear(features, self.weight, None)), -1.5, 21), "
      "1)",
      value));
  const auto found = match("torch.squeeze(torch.clamp($y, $low, $high), 1)", value);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at("$low")->number, -1.5);
  EXPECT_EQ(found->at("$y")->text, "torch.relu");
}

TEST(ScriptCode, KnowsPathsMethodsAndSeveralValues) {
  EXPECT_TRUE(match("self.a.b.7.weight", value_of("    net = self.b\n    _7 = getattr(net, \"7\")\n"
                                                  "    return _7.weight\n",
                                                  "a")));
  EXPECT_TRUE(match("self.member0.forward(features)",
                    value_of("    m = self.member0\n    return (m).forward(x, )\n")));
  const auto second = value_of("    _1, _2 = torch.cummin(x, 1)\n    return _2\n");
  EXPECT_EQ(second->kind, ScriptExpr::Kind::item);
  EXPECT_EQ(second->number, 1);
  EXPECT_TRUE(match("torch.cummin(features, 1)", second->parts.front()));
  EXPECT_TRUE(
      match("torch.sum(features, [1], True)", value_of("    return torch.sum(x, [1], True)\n")));
}

TEST(ScriptCode, TheSameWildcardIsTheSameValue) {
  const char* const kPattern = "torch.add($y, torch.relu($y))";
  EXPECT_TRUE(match(kPattern, value_of("    y = torch.neg(x)\n"
                                       "    return torch.add(y, torch.relu(y))\n")));
  EXPECT_FALSE(match(kPattern, value_of("    y = torch.neg(x)\n"
                                        "    return torch.add(y, torch.relu(x))\n")));
}

TEST(ScriptCode, RefusesWhatItDoesNotUnderstand) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("    if True:\n      y = x\n    else:\n      y = x\n    return y\n"),
              HasSubstr("if True"));
  EXPECT_THAT(refusal("    y = x\n"), HasSubstr("returns nothing"));
  EXPECT_THAT(refusal("    y : Tensor = x\n    return y\n"), HasSubstr("y : Tensor"));
  EXPECT_THAT(refusal("    return torch.relu(x\n"), HasSubstr("returns nothing"));
  EXPECT_THAT(refusal("    return x + x\n"), HasSubstr("+ x"));
  EXPECT_THAT(refusal("    return torch.add(x, alpha=2)\n"), HasSubstr("=2"));
  EXPECT_THAT(refusal("    return " + std::string(1000, '(') + "x" + std::string(1000, ')') + "\n"),
              HasSubstr("nested too deeply"));
  EXPECT_EQ(refusal("    return torch.relu(x)\n"), "(known)");
}

TEST(ScriptCode, LeavesOutMethodsOfOtherArguments) {
  const auto classes = parse_script_classes(
      "class A(Module):\n"
      "  def forward(self: __torch__.A,\n    x: Tensor,\n    y: Tensor) -> Tensor:\n"
      "    return x\n"
      "class B(Module):\n"
      "  def forward(self: __torch__.B, x: Tensor) -> Tensor:\n"
      "    return x\n");
  EXPECT_TRUE(classes.at("A").empty());
  EXPECT_EQ(classes.at("B").at("forward").argument, "x");
}

}  // namespace
}  // namespace pw
