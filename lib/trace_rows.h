#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pw {

// The requests of a trace file as they stand there: a CSV, or JSON lines with one object each.
struct TraceRows {
  struct Row {
    std::size_t line;
    std::string input, output, arrival;  // cells; empty where a JSON object lacks the key
  };
  // A line that is no request whatever its cells hold.
  struct BadLine {
    std::size_t line;
    std::string reason;
  };

  std::string input_name, output_name;  // as the file spells them
  std::string arrival_name;             // empty when the file tells no arrivals
  std::int64_t arrival_unit_ns = 1;     // of arrivals that are numbers
  std::vector<Row> rows;
  std::vector<BadLine> bad_lines;
};

// Knows the columns of the traces listed in workload/README.md, whatever the case of their names
// and the blanks and underscores in them. Throws DataError that lists the columns found and wanted,
// and for a file that cannot be read or has no row.
TraceRows read_trace_rows(const std::filesystem::path& path);

}  // namespace pw
