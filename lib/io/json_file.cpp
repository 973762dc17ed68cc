#include "io/json_file.h"

#include <cstddef>
#include <iterator>
#include <limits>
#include <set>

#include "io/files.h"
#include "io/text.h"

namespace pw {
namespace {

// No file that we read nests deeper than ten levels. Printing a value recurses into it.
constexpr int kMaxDepth = 100;

// How far a text has been read.
struct Progress {
  const char* read = nullptr;  // behind the last character
  bool beyond_end = false;     // more was asked for than there is
};

class NotingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  NotingIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  const char& operator*() const { return *at_; }
  NotingIterator& operator++() {
    progress_->read = ++at_;
    return *this;
  }
  // The parser compares with the end alone, before it reads.
  bool operator==(const NotingIterator& end) const {
    progress_->beyond_end = at_ == end.at_;
    return progress_->beyond_end;
  }
  bool operator!=(const NotingIterator& end) const { return !(*this == end); }

 private:
  const char* at_;
  Progress* progress_;
};

// "[json.exception.parse_error.101] parse error at line 7, column 1: syntax error while parsing
// object - unexpected end of input; expected '}'" without what our own message says already.
std::string short_reason(const std::string& what) {
  for (const std::string_view separator : {" - ", ": ", "] "}) {
    const std::size_t at = what.find(separator);
    if (at != std::string::npos) return what.substr(at + separator.size());
  }
  return what;
}

// Knows how far the parser has read, which nlohmann tells in exceptions only, and refuses a key
// that its object has already.
class KeyCheck {
 public:
  KeyCheck(std::string_view text, std::string origin)
      : text_(text), origin_(std::move(origin)), progress_{text.data()} {}

  NotingIterator begin() { return {text_.data(), &progress_}; }
  NotingIterator end() { return {text_.data() + text_.size(), &progress_}; }

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMaxDepth) fail("nested more than " + std::to_string(kMaxDepth) + " levels deep");
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(parsed).second) {
      fail("the key " + parsed.dump() + " occurs twice in one object");
    }
    return true;
  }

  // What the parser found wrong. That the text ends too early comes first, whatever it was in.
  std::string reason(const std::string& what) const {
    const std::string text = short_reason(what);
    const bool tells_end = text.find("end of input") != std::string::npos;
    return (progress_.beyond_end && !tells_end ? "unexpected end of the file: " : "") + text;
  }

  [[noreturn]] void fail(const std::string& reason) {
    const auto read = static_cast<std::size_t>(progress_.read - text_.data());
    const std::size_t last = read > 0 ? read - 1 : 0;
    throw DataError(origin_ + ":" + std::to_string(line_at(text_, last)) + ": " + reason);
  }

 private:
  std::string_view text_;
  std::string origin_;
  Progress progress_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

// A value for a message: `"x" (a string)`.
std::string found(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return shown(value.get_ref<const std::string&>()) + " (a string)";
  return value.dump() + (value.is_boolean() ? " (a boolean)" : "");
}

[[noreturn]] void throw_unexpected(const std::string& where, const Json& value,
                                   const std::string& expected) {
  throw DataError(where + " is " + found(value) + ", expected " + expected);
}

std::int64_t to_integer(const Json& value, const std::string& where) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) {
    throw_unexpected(where, value, "an integer below 2^63");
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) {
    if (const auto integer = exact_integer(value.get<double>())) return *integer;
  }
  throw_unexpected(where, value, "an integer");
}

}  // namespace

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

Json parse_json(std::string_view text, const std::string& origin) {
  KeyCheck check(checked_text(text, origin), origin);
  try {
    return Json::parse(check.begin(), check.end(), std::ref(check));
  } catch (const Json::exception& error) {
    check.fail(check.reason(error.what()));
  }
}

JsonFields::JsonFields(const Json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) throw_unexpected(where_, object, "an object");
}

bool JsonFields::has(std::string_view name) const {
  const auto member = object_.find(name);
  return member != object_.end() && !member->is_null();
}

std::int64_t JsonFields::integer(std::string_view name) const {
  return to_integer(value(name), where(name));
}

double JsonFields::number(std::string_view name) const {
  const Json& member = value(name);
  if (!member.is_number()) throw_unexpected(where(name), member, "a number");
  return member.get<double>();  // JSON has no infinity and no NaN
}

bool JsonFields::flag(std::string_view name) const {
  const Json& member = value(name);
  if (member.is_boolean()) return member.get<bool>();
  if (member != 0 && member != 1) throw_unexpected(where(name), member, "true or false");
  return member == 1;
}

std::string JsonFields::text(std::string_view name) const {
  const Json& member = value(name);
  if (!member.is_string() || member.get_ref<const std::string&>().empty()) {
    throw_unexpected(where(name), member, "a text that is not empty");
  }
  return member.get<std::string>();
}

std::vector<std::int64_t> JsonFields::integers(std::string_view name) const {
  std::vector<std::int64_t> numbers;
  for (const Json& element : array(name)) {
    numbers.push_back(
        to_integer(element, where(name) + "[" + std::to_string(numbers.size()) + "]"));
  }
  return numbers;
}

std::string JsonFields::where(std::string_view name) const {
  const bool inside_file = where_.find(": ") != std::string::npos;
  return where_ + (inside_file ? "." : ": ") + std::string(name);
}

const Json& JsonFields::object(std::string_view name) const {
  const Json& member = value(name);
  if (!member.is_object()) throw_unexpected(where(name), member, "an object");
  return member;
}

const Json& JsonFields::array(std::string_view name) const {
  const Json& member = value(name);
  if (!member.is_array()) throw_unexpected(where(name), member, "a list");
  return member;
}

const Json& JsonFields::value(std::string_view name) const {
  const auto member = object_.find(name);
  if (member == object_.end()) throw DataError(where(name) + " is missing");
  return *member;
}

}  // namespace pw
