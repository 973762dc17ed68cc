#include <algorithm>
#include <cmath>

#include "io/json_file.h"
#include "io/numbers.h"
#include "pw/dataset.h"
#include "row_filter.h"

namespace pw {
namespace {

std::optional<double> finite_number(std::string_view text) {
  const auto number = parse_number(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::vector<std::string> split_at_bars(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t bar = text.find('|'); bar != std::string_view::npos; bar = text.find('|')) {
    parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(bar + 1);
  }
  parts.emplace_back(text);
  return parts;
}

}  // namespace

RowFilter parse_row_filter(std::string_view text) {
  constexpr std::string_view kOr = " or ";
  if (const std::size_t split = text.find(kOr); split != std::string_view::npos) {
    RowFilter filter = parse_row_filter(text.substr(0, split));
    filter.or_else = {parse_row_filter(text.substr(split + kOr.size()))};
    return filter;
  }
  const std::size_t equals = text.find('=');
  const char before = equals == std::string_view::npos || equals == 0 ? ' ' : text[equals - 1];
  const bool is_limit = before == '<' || before == '>';
  RowFilter filter;
  filter.exclude = before == '!';
  if (equals != std::string_view::npos) {
    filter.column = text.substr(0, equals - (is_limit || filter.exclude ? 1 : 0));
  }
  const std::string_view rest = text.substr(std::min(text.size(), equals + 1));
  const std::optional<double> limit = is_limit ? finite_number(rest) : std::nullopt;
  if (filter.column.empty() || (is_limit && !limit)) {
    throw UsageError("row filter '" + std::string(text) +
                     "', expected column=value, column!=value, column=value|value, "
                     "column>=number or column<=number");
  }
  if (is_limit) {
    (before == '<' ? filter.most : filter.least) = limit;
  } else {
    filter.values = split_at_bars(rest);
  }
  return filter;
}

std::string to_string(const RowFilter& filter) {
  if (!filter.or_else.empty()) {
    RowFilter alone = filter;
    alone.or_else.clear();
    return to_string(alone) + " or " + to_string(filter.or_else.front());
  }
  if (filter.least || filter.most) {
    return filter.column + (filter.least ? ">=" : "<=") +
           python_repr(filter.least.value_or(filter.most.value_or(0)));
  }
  std::string text = filter.column + (filter.exclude ? "!=" : "=");
  for (std::size_t i = 0; i < filter.values.size(); ++i) {
    text += (i == 0 ? "" : "|") + filter.values[i];
  }
  return text;
}

namespace {

bool keeps_cell(const RowFilter& filter, std::string_view cell) {
  if (filter.least || filter.most) {
    const std::optional<double> number = finite_number(cell);
    return number && *number >= filter.least.value_or(*number) &&
           *number <= filter.most.value_or(*number);
  }
  const bool named =
      std::find(filter.values.begin(), filter.values.end(), cell) != filter.values.end();
  return named != filter.exclude;
}

}  // namespace

bool keeps(const RowFilter& filter, const CsvTable& table, std::size_t row) {
  return keeps_cell(filter, table.cell(row, table.column(filter.column))) ||
         std::any_of(filter.or_else.begin(), filter.or_else.end(),
                     [&](const RowFilter& other) { return keeps(other, table, row); });
}

void append_columns(const RowFilter& filter, std::vector<std::string_view>& columns) {
  columns.push_back(filter.column);
  for (const RowFilter& other : filter.or_else) {
    append_columns(other, columns);
  }
}

std::string row_place(const Dataset& data, std::size_t row) {
  return data.files[data.file[row]].name + ":" + std::to_string(data.line[row]);
}

std::string summary(const std::map<std::string, DroppedRows>& dropped) {
  std::string text;
  for (const auto& [reason, rows] : dropped) {
    text += (text.empty() ? "" : ", ") + std::to_string(rows.rows) + " " + reason;
  }
  return text;
}

}  // namespace pw
