#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pw/fact.h"

namespace pw {

// One request: tokens of its prompt and tokens that it generates, the first one included.
struct Request {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  // Seconds after the first arrival of the trace; absent when the trace does not tell.
  std::optional<double> arrival_s = std::nullopt;
  std::size_t line = 0;  // in the trace's file; 0 of a made-up request
};

struct Trace {
  std::string stem;  // names the trace in results: the file's stem, or "8x3500+128"
  std::vector<Request> requests;
  Facts facts;
};

// Lines of a trace that are no request.
enum class BadRows {
  refuse,  // one is an error
  skip,    // they are left out and listed in a note; no good row at all is still an error
};

// Reads a CSV or JSON lines with the column names of workload/README.md. Notes tell which column
// gave the output lengths, which rows were skipped, and that arrivals are not used. Throws
// DataError that lists the lines that are no request, with their reasons.
Trace read_trace(const std::filesystem::path& path, BadRows bad_rows = BadRows::refuse);

// `batch` requests from number `offset` (0-based) on. Without a batch size the whole trace is one
// batch; more than kMaxUnaskedBatch requests are then an error that says how to choose. A part of
// the trace gets a stem of its own: "arxiv_8" or, from request 16 on, "arxiv_8_from16".
inline constexpr std::size_t kMaxUnaskedBatch = 256;
Trace select_batch(const Trace& trace, std::optional<std::int64_t> batch, std::int64_t offset);

// `batch` equal requests, at most kMaxUniformBatch.
inline constexpr std::int64_t kMaxUniformBatch = 1 << 20;
Trace uniform_trace(std::int64_t batch, std::int64_t input_tokens, std::int64_t output_tokens);

}  // namespace pw
