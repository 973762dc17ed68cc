#include "sweep_rows.h"

#include <array>
#include <optional>
#include <stdexcept>

#include "io/csv_table.h"
#include "io/json_file.h"

namespace pw {
namespace {

constexpr std::array<std::string_view, 19> kColumns{"model",
                                                    "gpu",
                                                    "tp",
                                                    "pp",
                                                    "trace",
                                                    "input_len",
                                                    "output_len",
                                                    "batch",
                                                    "status",
                                                    "fits",
                                                    "memory_gb",
                                                    "gpu_memory_gb",
                                                    "prefill_ms",
                                                    "decode_ms",
                                                    "total_ms",
                                                    "tokens_per_s",
                                                    "tokens_per_s_per_gpu",
                                                    "facts",
                                                    "error"};

// A line, value by value in the order of kColumns.
class Line {
 public:
  explicit Line(SweepFormat format) : csv_(format == SweepFormat::csv) {}

  Line& text(std::string_view value) {
    if (csv_) return add(csv_cell(one_line(value)));
    return add(Json(std::string(value)).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  Line& integer(std::int64_t value) { return add(std::to_string(value)); }
  Line& number(double value, int decimals) {
    return add(python_repr(round_decimals(value, decimals)));
  }
  Line& number(std::optional<double> value, int decimals) {
    return value ? number(*value, decimals) : missing();
  }
  Line& truth(bool value) {
    return csv_ ? add(value ? "yes" : "no") : add(value ? "true" : "false");
  }
  Line& missing() { return add(csv_ ? "" : "null"); }
  Line& missing(int columns) {
    for (; columns > 0; --columns) missing();
    return *this;
  }

  const std::string& start() const { return text_; }
  std::string finished() const {
    if (column_ != kColumns.size()) throw std::logic_error("a sweep's row lacks columns");
    return text_ + (csv_ ? "\n" : "}\n");
  }

 private:
  static std::string one_line(std::string_view text) {
    std::string line(text);
    for (char& c : line) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    return line;
  }

  Line& add(std::string_view value) {
    const std::string_view separator = column_ == 0 ? (csv_ ? "" : "{") : ",";
    text_ += separator;
    if (!csv_) {
      text_ += '"';
      text_ += kColumns[column_];
      text_ += "\":";
    }
    text_ += value;
    ++column_;
    return *this;
  }

  bool csv_;
  std::size_t column_ = 0;
  std::string text_;
};

Line started_line(SweepFormat format, const SweepGrid& grid, std::size_t row) {
  const SweepGrid::Workload place = grid.workload(row / grid.gpus.size());
  const SweepRequests& requests = grid.requests[place.requests];
  Line line(format);
  line.text(grid.models[place.model]).text(grid.gpus[row % grid.gpus.size()]);
  line.integer(place.tp_size).integer(place.pp_size);
  if (requests.trace.empty()) {
    line.missing().integer(requests.input_tokens).integer(requests.output_tokens);
  } else {
    line.text(requests.trace).missing(2);
  }
  line.integer(place.batch);
  return line;
}

std::optional<double> if_positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

void add_prediction(Line& line, const SweepResult& result, std::int64_t gpus) {
  constexpr int kMsDecimals = 6, kGbDecimals = 3, kRateDecimals = 3;
  const std::int64_t needed = result.memory.weight_bytes + result.memory.kv_cache_bytes;
  line.text("ok");
  if (result.gpu_memory_bytes > 0) {
    line.truth(needed <= result.gpu_memory_bytes);
  } else {
    line.missing();
  }
  line.number(static_cast<double>(needed) * 1e-9, kGbDecimals);
  line.number(if_positive(static_cast<double>(result.gpu_memory_bytes) * 1e-9), kGbDecimals);
  line.number(result.summary.prefill_us / 1000, kMsDecimals);
  line.number(if_positive(result.summary.decode_average_us / 1000), kMsDecimals);
  line.number(result.summary.total_us / 1000, kMsDecimals);
  const double tokens_per_s =
      static_cast<double>(result.output_tokens) / (result.summary.total_us * 1e-6);
  line.number(tokens_per_s, kRateDecimals);
  line.number(tokens_per_s / static_cast<double>(gpus), kRateDecimals);
  std::string facts;
  for (const std::string_view name : fact_names(result.facts)) {
    facts += (facts.empty() ? "" : " ") + std::string(name);
  }
  line.text(facts).text("");
}

}  // namespace

std::string_view to_string(SweepFormat format) {
  return format == SweepFormat::csv ? "csv" : "jsonl";
}

SweepFormat parse_sweep_format(std::string_view text) {
  if (text == to_string(SweepFormat::csv)) return SweepFormat::csv;
  if (text == to_string(SweepFormat::jsonl)) return SweepFormat::jsonl;
  throw DataError("format '" + std::string(text) + "', expected csv or jsonl");
}

std::string sweep_header(SweepFormat format) {
  if (format == SweepFormat::jsonl) return "";
  std::string header;
  for (const std::string_view column : kColumns) {
    header += (header.empty() ? "" : ",") + std::string(column);
  }
  return header + "\n";
}

std::string row_start(SweepFormat format, const SweepGrid& grid, std::size_t row) {
  return started_line(format, grid, row).start() + ",";
}

std::string row_text(SweepFormat format, const SweepGrid& grid, std::size_t row,
                     const SweepResult& result) {
  Line line = started_line(format, grid, row);
  if (result.problem.empty()) {
    const SweepGrid::Workload place = grid.workload(row / grid.gpus.size());
    add_prediction(line, result, place.tp_size * place.pp_size);
  } else {
    line.text("impossible").missing(8).text("").text(result.problem);
  }
  return line.finished();
}

std::vector<std::string_view> fact_names(const FactKinds& kinds) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds.test(i)) names.push_back(to_string(static_cast<FactKind>(i)));
  }
  return names;
}

}  // namespace pw
