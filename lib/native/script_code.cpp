#include "native/script_code.h"

#include <algorithm>
#include <cctype>

#include "io/numbers.h"
#include "io/text.h"

namespace pw {
namespace {

using Kind = ScriptExpr::Kind;
using Variables = std::map<std::string, ScriptExprPtr>;

constexpr int kDeepestNesting = 64;        // of brackets
constexpr std::size_t kMostLines = 10000;  // of one method

ScriptExprPtr make(Kind kind, std::string text, std::vector<ScriptExprPtr> parts = {}) {
  return std::make_shared<ScriptExpr>(ScriptExpr{kind, std::move(text), 0, std::move(parts)});
}

ScriptExprPtr make_number(double number) {
  return std::make_shared<ScriptExpr>(ScriptExpr{Kind::number, "", number, {}});
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::string joined_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

// Parses the expressions of one statement or pattern.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const Variables& variables)
      : rest_(text), variables_(variables) {}

  // The whole text.
  ScriptExprPtr parse() {
    ScriptExprPtr value = expression();
    skip_blanks();
    if (!rest_.empty()) fail();
    return value;
  }

 private:
  ScriptExprPtr expression() {
    if (++depth_ > kDeepestNesting) throw UnknownNetwork("its code is nested too deeply");
    ScriptExprPtr value = primary();
    for (;;) {
      if (take('.')) {
        value = member(value, name());
      } else if (take('(')) {
        value = call(value, list_until(')'));
      } else {
        --depth_;
        return value;
      }
    }
  }

  ScriptExprPtr primary() {
    skip_blanks();
    if (rest_.empty()) fail();
    const char first = rest_.front();
    if (take('(')) {
      ScriptExprPtr value = expression();
      if (!take(')')) fail();
      return value;
    }
    if (take('[')) return make(Kind::list, "", list_until(']'));
    if (first == '"') return quoted();
    if (first == '-' || std::isdigit(static_cast<unsigned char>(first)) != 0) return number();
    const std::string word = name();
    if (word.front() == '$') return make(Kind::wildcard, word);
    const auto variable = variables_.find(word);
    return variable == variables_.end() ? make(Kind::word, word) : variable->second;
  }

  ScriptExprPtr member(const ScriptExprPtr& value, const std::string& name) {
    if (value->kind == Kind::attribute) {
      return make(Kind::attribute, joined_path(value->text, name));
    }
    if (value->kind == Kind::word) return make(Kind::word, value->text + "." + name);
    fail();
  }

  ScriptExprPtr call(const ScriptExprPtr& function, std::vector<ScriptExprPtr> arguments) {
    if (function->kind == Kind::attribute) {
      return make(Kind::call, "self." + function->text, std::move(arguments));
    }
    if (function->kind != Kind::word) fail();
    if (function->text == "getattr") {
      if (arguments.size() != 2 || arguments[1]->kind != Kind::word) fail();
      return member(arguments[0], arguments[1]->text);
    }
    return make(Kind::call, function->text, std::move(arguments));
  }

  std::vector<ScriptExprPtr> list_until(char end) {
    std::vector<ScriptExprPtr> items;
    while (!take(end)) {
      items.push_back(expression());
      if (!take(',') && !sees(end)) fail();
    }
    return items;
  }

  std::string name() {
    skip_blanks();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_character);
    const std::string name(rest_.begin(), end);
    if (name.empty()) fail();
    rest_.remove_prefix(name.size());
    return name;
  }

  ScriptExprPtr quoted() {
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos) fail();
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return make(Kind::word, text);
  }

  ScriptExprPtr number() {
    const std::string_view text = rest_.substr(0, rest_.find_first_of(" ,)]"));
    const auto value = parse_number(text);
    if (!value) fail();
    rest_.remove_prefix(text.size());
    return make_number(*value);
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }

  bool sees(char c) {
    skip_blanks();
    return !rest_.empty() && rest_.front() == c;
  }

  bool take(char c) {
    if (!sees(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  [[noreturn]] void fail() const {
    throw UnknownNetwork("its code goes on with " + shown(rest_, 40));
  }

  std::string_view rest_;
  const Variables& variables_;
  int depth_ = 0;
};

// `x = expression` or `x, y = expression`.
void assign(const std::string& statement, Variables& variables) {
  constexpr std::string_view kEquals = " = ";
  const std::size_t equals = statement.find(kEquals);
  if (equals == std::string::npos) {
    throw UnknownNetwork("its code has the statement " + shown(statement));
  }
  std::vector<std::string> names(1);
  for (const char c : statement.substr(0, equals)) {
    if (c == ',') {
      names.emplace_back();
    } else if (is_name_character(c)) {
      names.back() += c;
    } else if (c != ' ') {
      throw UnknownNetwork("its code has the statement " + shown(statement));
    }
  }
  const auto value =
      ExpressionParser(std::string_view(statement).substr(equals + kEquals.size()), variables)
          .parse();
  for (std::size_t i = 0; i < names.size(); ++i) {
    variables[names[i]] = names.size() == 1 ? value
                                            : std::make_shared<ScriptExpr>(ScriptExpr{
                                                  Kind::item, "", static_cast<double>(i), {value}});
  }
}

bool matches(const ScriptExprPtr& pattern, const ScriptExprPtr& expr, ScriptMatch& found) {
  if (pattern->kind == Kind::wildcard) {
    return found.emplace(pattern->text, expr).first->second == expr;
  }
  const auto same_part = [&](const ScriptExprPtr& a, const ScriptExprPtr& b) {
    return matches(a, b, found);
  };
  return pattern->kind == expr->kind && pattern->text == expr->text &&
         pattern->number == expr->number &&
         std::equal(pattern->parts.begin(), pattern->parts.end(), expr->parts.begin(),
                    expr->parts.end(), same_part);
}

struct LogicalLine {
  std::size_t indent = 0;
  std::string text;
};

// A line that ends within brackets goes on.
std::vector<LogicalLine> logical_lines(const std::string& source) {
  std::vector<LogicalLine> lines;
  std::string line;
  int brackets = 0;
  bool quoted = false;
  for (const char c : source) {
    if (c == '\n' && brackets == 0) {
      const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
      if (indent < line.size()) lines.push_back({indent, line.substr(indent)});
      line.clear();
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted) brackets += (c == '(' || c == '[') - (c == ')' || c == ']');
    line += c;
  }
  return lines;
}

// "def forward(self: T, x: Tensor) -> Tensor:" -> {"forward", "x"}; empty for anything else.
std::pair<std::string, std::string> method_and_argument(const std::string& line) {
  constexpr std::string_view kDefine = "def ";
  constexpr std::string_view kEnd = ": Tensor) -> Tensor:";
  const std::size_t open = line.find('(');
  const std::size_t comma = line.find(',');
  if (line.compare(0, kDefine.size(), kDefine) != 0 || open == std::string::npos ||
      comma == std::string::npos || line.size() < comma + kEnd.size() ||
      line.compare(line.size() - kEnd.size(), kEnd.size(), kEnd) != 0) {
    return {};
  }
  const std::size_t begin = line.find_first_not_of(" \n", comma + 1);
  const std::string argument = line.substr(begin, line.size() - kEnd.size() - begin);
  if (!std::all_of(argument.begin(), argument.end(), is_name_character)) return {};
  return {line.substr(kDefine.size(), open - kDefine.size()), argument};
}

}  // namespace

std::optional<ScriptMatch> match(std::string_view pattern, const ScriptExprPtr& expr) {
  static const Variables kVariables{{"self", make(Kind::attribute, "")},
                                    {"features", make(Kind::input, "")}};
  ScriptMatch found;
  if (!matches(ExpressionParser(pattern, kVariables).parse(), expr, found)) {
    return std::nullopt;
  }
  return found;
}

std::map<std::string, ScriptClass> parse_script_classes(const std::string& source) {
  constexpr std::size_t kInClass = 2, kInMethod = 4;
  constexpr std::string_view kClass = "class ";
  std::map<std::string, ScriptClass> classes;
  ScriptClass* current = nullptr;
  ScriptMethod* method = nullptr;
  for (const LogicalLine& line : logical_lines(source)) {
    if (line.indent == 0) {
      const bool is_class = line.text.compare(0, kClass.size(), kClass) == 0;
      const std::size_t end = line.text.find('(');
      current = is_class && end != std::string::npos
                    ? &classes[line.text.substr(kClass.size(), end - kClass.size())]
                    : nullptr;
      method = nullptr;
    } else if (line.indent == kInClass && current != nullptr) {
      const auto [name, argument] = method_and_argument(line.text);
      method = name.empty() ? nullptr : &(*current)[name];
      if (method != nullptr) method->argument = argument;
    } else if (line.indent >= kInMethod && method != nullptr) {
      method->statements.push_back(line.text);
      if (method->statements.size() > kMostLines) throw UnknownNetwork("its code is too long");
    }
  }
  return classes;
}

ScriptExprPtr returned_value(const ScriptMethod& method, const std::string& path) {
  constexpr std::string_view kReturn = "return ";
  Variables variables{{"self", make(Kind::attribute, path)},
                      {method.argument, make(Kind::input, "")}};
  for (const std::string& statement : method.statements) {
    if (statement.compare(0, kReturn.size(), kReturn) == 0) {
      return ExpressionParser(std::string_view(statement).substr(kReturn.size()), variables)
          .parse();
    }
    assign(statement, variables);
  }
  throw UnknownNetwork("one of its methods returns nothing");
}

}  // namespace pw
