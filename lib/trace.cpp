#include "pw/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "comma_list.h"
#include "io/csv_table.h"
#include "io/files.h"
#include "pw/fields.h"

namespace pw {
namespace {

constexpr std::int64_t kMaxTokens = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxListedProblems = 10;

// Ours and the published traces, Vidur's, and the Azure LLM inference traces.
constexpr std::array<std::string_view, 2> kInputColumns{"num_prefill_tokens", "ContextTokens"};
constexpr std::array<std::string_view, 3> kOutputColumns{"output_tokens", "num_decode_tokens",
                                                         "GeneratedTokens"};

std::string wanted_columns() {
  return "expected one of the columns " + comma_list(kInputColumns) + " and one of " +
         comma_list(kOutputColumns);
}

template <class Names>
std::size_t first_present(const CsvTable& table, const Names& names) {
  for (const std::string_view name : names) {
    if (const std::size_t column = table.find_column(name); column != CsvTable::npos) {
      return column;
    }
  }
  throw DataError(table.path().string() + ": found the columns " + comma_list(table.header()) +
                  "; " + wanted_columns());
}

// "77", "512.0" or "1e3"; -1 for anything that is no integer from 1 to kMaxTokens.
std::int64_t token_count(std::string_view cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = error == std::errc() && end == cell.data() + cell.size() && value >= 1 &&
                     value <= static_cast<double>(kMaxTokens) && value == std::floor(value);
  return whole ? static_cast<std::int64_t>(value) : -1;
}

void reject_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    throw DataError(path.string() + " is JSON and has no token lengths, CSV expected; " +
                    wanted_columns());
  }
}

void throw_problems(const std::filesystem::path& path, std::vector<std::string> problems) {
  const std::size_t count = problems.size();
  problems.resize(std::min(count, kMaxListedProblems));
  std::string text = comma_list(problems);
  if (count > kMaxListedProblems) {
    text += " and " + std::to_string(count - kMaxListedProblems) + " more";
  }
  throw DataError(path.string() + ": " + text + "; expected integers from 1 to " +
                  std::to_string(kMaxTokens));
}

void require_range(const std::string& name, std::int64_t value, std::int64_t lowest,
                   std::int64_t highest) {
  if (value < lowest || value > highest) {
    throw DataError(name + " is " + std::to_string(value) + ", expected " + std::to_string(lowest) +
                    " to " + std::to_string(highest));
  }
}

}  // namespace

Trace read_trace(const std::filesystem::path& path) {
  reject_json(path);
  const CsvTable table = CsvTable::read(path);
  table.require_no_bad_lines();
  const std::array<std::size_t, 2> columns{first_present(table, kInputColumns),
                                           first_present(table, kOutputColumns)};
  if (table.rows() == 0) {
    throw DataError(path.string() + ": no data rows, expected one request a line");
  }
  Trace trace;
  trace.stem = path.stem().string();
  trace.notes.push_back("output lengths: column " + table.header()[columns[1]] + " of the trace");
  std::vector<std::string> problems;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::array<std::int64_t, 2> tokens{};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string_view cell = table.cell(row, columns[i]);
      tokens[i] = token_count(cell);
      if (tokens[i] < 0) {
        problems.push_back("line " + std::to_string(table.line(row)) + ": " +
                           table.header()[columns[i]] + " is '" + std::string(cell) + "'");
      }
    }
    trace.requests.push_back({tokens[0], tokens[1]});
  }
  if (!problems.empty()) {
    throw_problems(path, std::move(problems));
  }
  return trace;
}

Trace select_batch(const Trace& trace, std::optional<std::int64_t> batch, std::int64_t offset) {
  const auto total = static_cast<std::int64_t>(trace.requests.size());
  require_range("offset into trace " + trace.stem, offset, 0, total - 1);
  const std::int64_t rest = total - offset;
  if (!batch && rest > static_cast<std::int64_t>(kMaxUnaskedBatch)) {
    throw DataError("trace " + trace.stem + " has " + std::to_string(rest) +
                    " requests, too many for one batch unless asked for (at most " +
                    std::to_string(kMaxUnaskedBatch) +
                    "); choose with --batch N and --offset K which N requests run together");
  }
  require_range("batch size for trace " + trace.stem, batch.value_or(rest), 1, rest);
  if (offset == 0 && batch.value_or(rest) == total) {
    return trace;
  }
  Trace selected{trace.stem + "_" + std::to_string(batch.value_or(rest)), {}, trace.notes};
  if (offset > 0) {
    selected.stem += "_from" + std::to_string(offset);
  }
  const auto first = trace.requests.begin() + offset;
  selected.requests.assign(first, first + batch.value_or(rest));
  return selected;
}

Trace uniform_trace(std::int64_t batch, std::int64_t input_tokens, std::int64_t output_tokens) {
  require_range("batch size", batch, 1, kMaxUniformBatch);
  require_range("input length", input_tokens, 1, kMaxTokens);
  require_range("output length", output_tokens, 1, kMaxTokens);
  return {std::to_string(batch) + "x" + std::to_string(input_tokens) + "+" +
              std::to_string(output_tokens),
          std::vector<Request>(static_cast<std::size_t>(batch), {input_tokens, output_tokens}),
          {}};
}

}  // namespace pw
