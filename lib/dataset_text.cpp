#include "pw/dataset.h"

namespace pw {

RowFilter parse_row_filter(std::string_view text) {
  RowFilter filter;
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0) {
    filter.exclude = text[equals - 1] == '!';
    filter.column = text.substr(0, equals - (filter.exclude ? 1 : 0));
  }
  if (filter.column.empty()) {
    throw DataError("row filter '" + std::string(text) +
                    "', expected column=value, column!=value or column=value|value");
  }
  std::string_view rest = text.substr(equals + 1);
  for (std::size_t bar = rest.find('|'); bar != std::string_view::npos; bar = rest.find('|')) {
    filter.values.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(bar + 1);
  }
  filter.values.emplace_back(rest);
  return filter;
}

std::string to_string(const RowFilter& filter) {
  std::string text = filter.column + (filter.exclude ? "!=" : "=");
  for (std::size_t i = 0; i < filter.values.size(); ++i) {
    text += (i == 0 ? "" : "|") + filter.values[i];
  }
  return text;
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
