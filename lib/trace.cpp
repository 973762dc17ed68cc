#include "pw/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string_view>

#include "arrival_time.h"
#include "comma_list.h"
#include "io/numbers.h"
#include "io/text.h"
#include "pw/fields.h"
#include "trace_rows.h"

namespace pw {
namespace {

constexpr std::int64_t kMaxTokens = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxListedProblems = 10;
constexpr std::size_t kMaxShownCell = 40;

// The number of tokens in a cell ("77", "512.0", "+4" or "1e3"), else -1 and why it is none.
std::int64_t token_count(std::string_view cell, std::string& problem) {
  if (cell.empty()) {
    problem = "is empty";
    return -1;
  }
  double value = 0;
  const std::errc error = read_number(cell, value);
  const char* reason = nullptr;
  if (error == std::errc::result_out_of_range) {
    reason = "too large";
  } else if (error != std::errc() || !std::isfinite(value)) {
    reason = "no number";
  } else if (value < 0) {
    reason = "negative";
  } else if (value == 0) {
    reason = "zero";
  } else if (value != std::floor(value)) {
    reason = "a fraction";
  } else if (value > static_cast<double>(kMaxTokens)) {
    reason = "too large";
  } else {
    return static_cast<std::int64_t>(value);
  }
  problem = "is " + shown(cell, kMaxShownCell) + " (" + reason + ")";
  return -1;
}

// The lines that are no request, each once with its first problem.
using Problems = std::map<std::size_t, std::string>;

std::string listed(const Problems& problems) {
  std::vector<std::string> first;
  for (const auto& [line, problem] : problems) {
    if (first.size() == kMaxListedProblems) break;
    first.push_back("line " + std::to_string(line) + ": " + problem);
  }
  std::string text = comma_list(first);
  if (problems.size() > kMaxListedProblems) {
    text += " and " + std::to_string(problems.size() - kMaxListedProblems) + " more";
  }
  return text + "; expected integers from 1 to " + std::to_string(kMaxTokens);
}

// Sets the arrivals of all requests, or of none, and says so.
void set_arrivals(const TraceRows& rows, const std::vector<const TraceRows::Row*>& of_request,
                  Trace& trace) {
  if (rows.arrival_name.empty() || trace.requests.empty()) return;
  std::vector<std::int64_t> arrivals;
  for (const TraceRows::Row* row : of_request) {
    const auto arrival = parse_arrival_ns(row->arrival, rows.arrival_unit_ns);
    if (!arrival) {
      trace.facts.add(
          {FactKind::arrivals_unknown,
           "arrivals are unknown: column " + rows.arrival_name + ", line " +
               std::to_string(row->line) + " is " + shown(row->arrival, kMaxShownCell) +
               ", no time",
           {{"column", rows.arrival_name}, {"line", static_cast<std::int64_t>(row->line)}}});
      return;
    }
    arrivals.push_back(*arrival);
  }
  const auto [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
  const auto seconds_after_first = [first = *first](std::int64_t arrival) {
    return static_cast<double>(arrival - first) * 1e-9;
  };
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    trace.requests[i].arrival_s = seconds_after_first(arrivals[i]);
  }
  std::ostringstream note;
  note << "arrivals: column " << rows.arrival_name << ", " << seconds_after_first(*last)
       << " s from the first to the last of the trace, are not used: all requests start together";
  trace.facts.add({FactKind::arrivals_unused,
                   note.str(),
                   {{"column", rows.arrival_name}, {"span_s", seconds_after_first(*last)}}});
}

std::string range_problem(const std::string& name, std::int64_t value, std::int64_t lowest,
                          std::int64_t highest) {
  if (value >= lowest && value <= highest) return "";
  return name + " is " + std::to_string(value) + ", expected " + std::to_string(lowest) + " to " +
         std::to_string(highest);
}

// For what the trace itself limits, and for what is asked without one.
void require_in_trace(const std::string& name, std::int64_t value, std::int64_t lowest,
                      std::int64_t highest) {
  const std::string problem = range_problem(name, value, lowest, highest);
  if (!problem.empty()) throw DataError(problem);
}
void require_range(const std::string& name, std::int64_t value, std::int64_t lowest,
                   std::int64_t highest) {
  const std::string problem = range_problem(name, value, lowest, highest);
  if (!problem.empty()) throw UsageError(problem);
}

}  // namespace

Trace read_trace(const std::filesystem::path& path, BadRows bad_rows) {
  const TraceRows rows = read_trace_rows(path);
  Trace trace;
  trace.stem = path.stem().string();
  trace.facts.add({FactKind::output_length_source,
                   "output lengths: column " + rows.output_name + " of the trace",
                   {{"column", rows.output_name}}});
  Problems problems;
  for (const TraceRows::BadLine& bad : rows.bad_lines) problems[bad.line] = bad.reason;
  std::vector<const TraceRows::Row*> of_request;
  for (const TraceRows::Row& row : rows.rows) {
    std::string problem;
    const std::int64_t input = token_count(row.input, problem);
    if (input < 0) problem = rows.input_name + " " + problem;
    const std::int64_t output = input < 0 ? -1 : token_count(row.output, problem);
    if (input >= 0 && output < 0) problem = rows.output_name + " " + problem;
    if (!problem.empty()) {
      problems[row.line] = problem;
      continue;
    }
    trace.requests.push_back({input, output, std::nullopt, row.line});
    of_request.push_back(&row);
  }
  if (!problems.empty() && (bad_rows == BadRows::refuse || trace.requests.empty())) {
    throw DataError(path.string() + ": " + listed(problems));
  }
  if (!problems.empty()) {
    const std::size_t rows_in_all = problems.size() + trace.requests.size();
    trace.facts.add({FactKind::rows_skipped,
                     std::to_string(problems.size()) + " of " + std::to_string(rows_in_all) +
                         " rows of the trace are skipped: " + listed(problems),
                     {{"rows", static_cast<std::int64_t>(problems.size())},
                      {"of", static_cast<std::int64_t>(rows_in_all)}}});
  }
  set_arrivals(rows, of_request, trace);
  return trace;
}

Trace select_batch(const Trace& trace, std::optional<std::int64_t> batch, std::int64_t offset) {
  const auto total = static_cast<std::int64_t>(trace.requests.size());
  require_in_trace("offset into trace " + trace.stem, offset, 0, total - 1);
  const std::int64_t rest = total - offset;
  if (!batch && rest > static_cast<std::int64_t>(kMaxUnaskedBatch)) {
    throw DataError("trace " + trace.stem + " has " + std::to_string(rest) +
                    " requests, too many for one batch unless asked for (at most " +
                    std::to_string(kMaxUnaskedBatch) +
                    "); choose with --batch N and --offset K which N requests run together");
  }
  require_in_trace("batch size for trace " + trace.stem, batch.value_or(rest), 1, rest);
  if (offset == 0 && batch.value_or(rest) == total) {
    return trace;
  }
  Trace selected{trace.stem + "_" + std::to_string(batch.value_or(rest)), {}, trace.facts};
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
  return {
      std::to_string(batch) + "x" + std::to_string(input_tokens) + "+" +
          std::to_string(output_tokens),
      std::vector<Request>(static_cast<std::size_t>(batch), Request{input_tokens, output_tokens}),
      {}};
}

}  // namespace pw
