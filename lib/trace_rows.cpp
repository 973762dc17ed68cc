#include "trace_rows.h"

#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "comma_list.h"
#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "io/text.h"
#include "pw/fields.h"

namespace pw {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// The first that a file has counts. Ours and Vidur's; the Azure LLM inference traces; BurstGPT;
// Mooncake; splitwise-sim; what serving benchmarks and API logs write.
constexpr std::array<std::string_view, 9> kInputNames{
    "num_prefill_tokens", "ContextTokens", "Request tokens", "input_length", "prompt_size",
    "prompt_tokens",      "input_tokens",  "prompt_len",     "input_len"};
constexpr std::array<std::string_view, 10> kOutputNames{
    "output_tokens", "num_decode_tokens", "GeneratedTokens",  "Response tokens", "output_length",
    "token_size",    "completion_tokens", "generated_tokens", "response_len",    "output_len"};
constexpr std::array<std::string_view, 4> kArrivalNames{"arrived_at", "TIMESTAMP",
                                                        "arrival_timestamp", "arrival_time"};

std::string wanted_columns() {
  return "expected one of the columns " + comma_list(kInputNames) + " and one of " +
         comma_list(kOutputNames);
}

[[noreturn]] void throw_no_columns(const std::filesystem::path& path,
                                   const std::vector<std::string>& found) {
  throw DataError(path.string() + ": found the columns " + comma_list(found) + "; " +
                  wanted_columns());
}

[[noreturn]] void throw_json(const std::filesystem::path& path) {
  throw DataError(path.string() +
                  " is JSON and has no token lengths, CSV or JSON lines expected; " +
                  wanted_columns());
}

// "Request tokens", "request_tokens" and "RequestTokens" are one name.
std::string normal_form(std::string_view name) {
  std::string form;
  for (const char c : name) {
    if (c != '_' && c != ' ' && c != '-') {
      form += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return form;
}

template <class Names>
std::optional<std::size_t> first_present(const std::vector<std::string>& header,
                                         const Names& names) {
  for (const std::string_view name : names) {
    for (std::size_t column = 0; column < header.size(); ++column) {
      if (normal_form(header[column]) == normal_form(name)) return column;
    }
  }
  return std::nullopt;
}

struct Columns {
  std::size_t input, output;
  std::optional<std::size_t> arrival;
};

// Names the columns in `rows`; nothing where lengths are absent.
std::optional<Columns> find_columns(const std::vector<std::string>& header, TraceRows& rows) {
  const auto input = first_present(header, kInputNames);
  const auto output = first_present(header, kOutputNames);
  if (!input || !output) return std::nullopt;
  rows.input_name = header[*input];
  rows.output_name = header[*output];
  const auto arrival = first_present(header, kArrivalNames);
  if (arrival) rows.arrival_name = header[*arrival];
  return Columns{*input, *output, arrival};
}

TraceRows read_csv(const std::filesystem::path& path) {
  const CsvTable table = CsvTable::read(path);
  TraceRows rows;
  rows.arrival_unit_ns = kNsPerSecond;
  const auto columns = find_columns(table.header(), rows);
  if (!columns) throw_no_columns(path, table.header());
  for (const CsvTable::BadLine& bad : table.bad_lines()) {
    rows.bad_lines.push_back({bad.line, bad.reason});
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto cell = [&](std::size_t column) { return std::string(table.cell(row, column)); };
    rows.rows.push_back({table.line(row), cell(columns->input), cell(columns->output),
                         columns->arrival ? cell(*columns->arrival) : ""});
  }
  return rows;
}

// A number as it is written, a text without its quotes; empty where there is none.
std::string cell_of(const Json& object, const std::string& key) {
  const auto member = object.find(key);
  if (member == object.end() || member->is_null()) return "";
  return member->is_string() ? member->get<std::string>() : member->dump();
}

// The names are those of the first object.
void add_object(const std::filesystem::path& path, const Json& object, std::size_t line,
                TraceRows& rows) {
  if (rows.input_name.empty()) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    if (!find_columns(keys, rows)) throw_no_columns(path, keys);
  }
  rows.rows.push_back({line, cell_of(object, rows.input_name), cell_of(object, rows.output_name),
                       cell_of(object, rows.arrival_name)});
}

TraceRows read_json_lines(const std::filesystem::path& path, std::string_view text) {
  TraceRows rows;
  rows.arrival_unit_ns = kNsPerMs;  // as in Mooncake's traces
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json object = Json::parse(line, nullptr, false);
    if (object.is_object()) {
      add_object(path, object, number, rows);
    } else {
      rows.bad_lines.push_back({number, "no JSON object"});
    }
  }
  if (rows.rows.empty()) throw_json(path);
  return rows;
}

}  // namespace

TraceRows read_trace_rows(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const std::string_view text = checked_text(bytes, path.string());
  const char first = text[text.find_first_not_of(" \t\r\n")];
  if (first == '[') throw_json(path);
  TraceRows rows = first == '{' ? read_json_lines(path, text) : read_csv(path);
  if (rows.rows.empty() && rows.bad_lines.empty()) {
    throw DataError(path.string() + ": no data rows, expected one request a line");
  }
  return rows;
}

}  // namespace pw
