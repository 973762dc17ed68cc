#include "compare/tolerant_json.h"

#include "comma_list.h"
#include "compare/case_name.h"
#include "io/files.h"
#include "io/text.h"

namespace pw {
namespace {

constexpr std::array<std::string_view, 3> kNoNumbers{"-Infinity", "Infinity", "NaN"};

// The text with null for each bare word of kNoNumbers; their lines, counted from 0, in `lines`.
std::string with_nulls(std::string_view text, std::vector<std::size_t>& lines) {
  std::string result;
  result.reserve(text.size());
  std::size_t line = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      result += c;
      result += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    std::size_t skipped = 0;
    for (const std::string_view word : kNoNumbers) {
      if (!in_string && skipped == 0 && text.substr(i, word.size()) == word) skipped = word.size();
    }
    if (skipped == 0) {
      result += c;
      continue;
    }
    result += "null";
    lines.push_back(line);
    i += skipped - 1;
  }
  return result;
}

}  // namespace

Json parse_tolerant_json(std::string_view text, const std::string& origin, std::size_t first_line,
                         const Warn& warn) {
  std::vector<std::size_t> lines;
  const std::string valid = with_nulls(text, lines);
  if (!lines.empty()) {
    std::vector<std::string> numbers;
    for (const std::size_t line : lines) {
      const std::string number = std::to_string(first_line + line);
      if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
    }
    warn(origin + ":" + comma_list(numbers) +
         ": NaN or Infinity is no JSON number and counts as n/a");
  }
  // Line feeds in front, so that a message of the parser names the line of the file.
  return parse_json(std::string(first_line - 1, '\n') + valid, origin);
}

Json read_tolerant_json(const std::filesystem::path& path, const Warn& warn) {
  const std::string bytes = read_file(path);
  return parse_tolerant_json(checked_text(bytes, path.string()), path.string(), 1, warn);
}

std::vector<JsonLine> read_json_lines(const std::filesystem::path& path, const Warn& warn) {
  const std::string bytes = read_file(path);
  std::vector<JsonLine> lines;
  std::size_t number = 0;
  for (const std::string& line : split(checked_text(bytes, path.string()), '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back({number, parse_tolerant_json(line, path.string(), number, warn)});
    if (!lines.back().value.is_object()) {
      throw DataError(path.string() + ":" + std::to_string(number) +
                      ": expected an object with the keys run_name, prefill_latency, "
                      "median_decode_latency, total_latency");
    }
  }
  return lines;
}

bool is_usable_ms(double ms) { return ms >= 1e-12 && ms <= 1e15; }

std::optional<double> usable_time(const Json& object, std::string_view key, double factor,
                                  std::string& reason) {
  const auto member = object.find(key);
  if (member == object.end()) {
    reason = "is missing";
  } else if (!member->is_number()) {
    reason = member->is_structured() ? "is no number" : "is " + member->dump();
  } else if (const double time = member->get<double>() * factor; !is_usable_ms(time)) {
    reason =
        "is " + member->dump() + (time > 0 ? ", outside what can be compared" : ", not above 0");
  } else {
    return time;
  }
  return std::nullopt;
}

}  // namespace pw
