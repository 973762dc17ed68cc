#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

// A module is none of those that the native engine knows; LibTorch may know it. The message is the
// reason, a clause without the file's name.
class UnknownNetwork : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a TorchScript method computes from its argument: local variables are replaced by what they
// stand for, calls of other methods are not. Expressions share their parts.
struct ScriptExpr;
using ScriptExprPtr = std::shared_ptr<const ScriptExpr>;
struct ScriptExpr {
  enum class Kind {
    input,      // the method's argument
    attribute,  // `text`: path from the module, "member0.weight1"; empty for the module itself
    number,     // `number`
    word,       // `text`: None, True, False, a string or the name of a function
    call,       // `text`: "torch.linear", "self.member0.forward"; `parts`: the arguments
    list,       // `parts`: its items
    item,       // the value at place `number` of the several that parts[0] gives
    wildcard,   // in patterns alone; `text`: "$x"
  };
  Kind kind = Kind::input;
  std::string text;
  double number = 0;
  std::vector<ScriptExprPtr> parts;
};

// What the wildcards of a pattern stand for.
using ScriptMatch = std::map<std::string, ScriptExprPtr>;
// Whether an expression is of the form of a pattern, "torch.linear($x, self.weight, $bias)" with
// `self` for the module and `features` for the input. The same wildcard stands for the same value.
std::optional<ScriptMatch> match(std::string_view pattern, const ScriptExprPtr& expr);

// The methods of the classes in one file of TorchScript code, as LibTorch prints it.
struct ScriptMethod {
  std::string argument;                 // its only one beside self
  std::vector<std::string> statements;  // logical lines without indentation
};
using ScriptClass = std::map<std::string, ScriptMethod>;
// By class name without namespace. Methods that take another number of arguments are left out.
std::map<std::string, ScriptClass> parse_script_classes(const std::string& source);

// The value that a method of the object at `path` returns. Throws UnknownNetwork for statements
// other than assignments of expressions and a return at the end.
ScriptExprPtr returned_value(const ScriptMethod& method, const std::string& path);

}  // namespace pw
