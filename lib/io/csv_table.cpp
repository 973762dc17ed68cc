#include "io/csv_table.h"

#include <algorithm>

#include "io/files.h"
#include "io/text.h"

namespace pw {
namespace {

enum class Quoting { good, text_after_quote, unclosed };

// Moves the field at the start of `rest`, which starts with a quote, to `text`; `rest` then starts
// at the comma behind it or is empty.
Quoting take_quoted(std::string_view& rest, std::string& text) {
  for (;;) {
    rest.remove_prefix(1);  // the opening quote, or the second of a doubled one
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return Quoting::unclosed;
    text += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (rest.empty() || rest.front() != '"') break;
    text += '"';
  }
  rest = without_leading_blanks(rest);
  return rest.empty() || rest.front() == ',' ? Quoting::good : Quoting::text_after_quote;
}

// Appends the fields of a line, unquoted and trimmed, to `text` and their ends to `ends`.
Quoting split_line(std::string_view rest, std::string& text, std::vector<std::size_t>& ends) {
  for (;;) {
    rest = without_leading_blanks(rest);
    if (!rest.empty() && rest.front() == '"') {
      const Quoting quoting = take_quoted(rest, text);
      if (quoting != Quoting::good) return quoting;
    } else {
      const std::size_t end = std::min(rest.find(','), rest.size());
      text += trimmed(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    ends.push_back(text.size());
    if (rest.empty()) return Quoting::good;
    rest.remove_prefix(1);  // the comma
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

CsvTable CsvTable::read(const std::filesystem::path& path) {
  CsvTable table;
  table.path_ = path;
  const std::string bytes = read_file(path);
  std::string_view rest = checked_text(bytes, path.string());
  table.text_.reserve(rest.size());
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (trimmed(line).empty()) continue;
    if (table.header_.empty()) {
      table.set_header(line, line_number);
    } else {
      table.add_row(line, line_number);
    }
  }
  return table;
}

void CsvTable::set_header(std::string_view line, std::size_t line_number) {
  const char first = trimmed(line).front();
  if (first == '{' || first == '[') {
    throw DataError(at_line(line_number) + "this looks like JSON, expected a CSV header");
  }
  std::string text;
  std::vector<std::size_t> ends;
  if (split_line(line, text, ends) != Quoting::good) {
    throw DataError(at_line(line_number) + "the header has a quote that is not closed well");
  }
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    header_.push_back(text.substr(begin, end - begin));
    begin = end;
    if (!header_.back().empty()) named_columns_ = header_.size();
  }
  for (std::size_t i = 0; i < named_columns_; ++i) {
    if (header_[i].empty() && i > 0) {
      throw DataError(at_line(line_number) + "column " + std::to_string(i + 1) +
                      " of the header has no name");
    }
    if (find_column(header_[i]) != i) {
      throw DataError(at_line(line_number) + "the column '" + header_[i] +
                      "' occurs twice in the header");
    }
  }
  if (named_columns_ == 0) throw DataError(at_line(line_number) + "the header has no names");
}

void CsvTable::add_row(std::string_view line, std::size_t line_number) {
  const std::size_t old_cells = cell_ends_.size();
  const std::size_t old_size = text_.size();
  const Quoting quoting = split_line(line, text_, cell_ends_);
  const std::size_t fields = cell_ends_.size() - old_cells;
  std::string reason;
  if (quoting == Quoting::unclosed) {
    throw DataError(at_line(line_number) + "a quote opens in field " + std::to_string(fields + 1) +
                    " and is not closed in this line");
  }
  if (quoting == Quoting::text_after_quote) {
    reason = "text behind the closing quote of field " + std::to_string(fields + 1);
  } else if (fields != header_.size()) {
    reason = std::to_string(fields) + " fields, expected " + std::to_string(header_.size());
    if (line.find('[') != std::string_view::npos) reason += " (is a list without quotes?)";
  } else if (text_.size() > cell_ends_[old_cells + named_columns_ - 1]) {
    reason = "a value in a column that has no name";
  }
  if (reason.empty()) {
    lines_.push_back(line_number);
    return;
  }
  bad_lines_.push_back({line_number, reason});
  cell_ends_.resize(old_cells);
  text_.resize(old_size);
}

std::string CsvTable::at_line(std::size_t line_number) const {
  return path_.string() + ":" + std::to_string(line_number) + ": ";
}

std::string_view CsvTable::cell(std::size_t row, std::size_t column) const {
  const std::size_t index = row * header_.size() + column;
  const std::size_t begin = index == 0 ? 0 : cell_ends_[index - 1];
  return std::string_view(text_).substr(begin, cell_ends_[index] - begin);
}

void CsvTable::require_no_bad_lines() const {
  if (bad_lines_.empty()) return;
  const std::size_t more = bad_lines_.size() - 1;
  throw DataError(at_line(bad_lines_.front().line) + bad_lines_.front().reason +
                  (more > 0 ? " (and " + std::to_string(more) + " more bad lines)" : ""));
}

std::size_t CsvTable::find_column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  return found == header_.end() ? npos : static_cast<std::size_t>(found - header_.begin());
}

std::size_t CsvTable::column(std::string_view name) const {
  const std::size_t found = find_column(name);
  if (found == npos) require_columns({name});
  return found;
}

void CsvTable::require_columns(const std::vector<std::string_view>& names) const {
  std::vector<std::string> missing;
  for (const std::string_view name : names) {
    if (find_column(name) == npos) missing.push_back("'" + std::string(name) + "'");
  }
  if (missing.empty()) return;
  constexpr std::size_t kLongestHeader = 400;
  std::string hint;
  for (const auto& [separator, shown_as] : {std::pair(';', ";"), std::pair('\t', "tab")}) {
    if (header_.front().find(separator) == std::string::npos) continue;
    hint = std::string(" (separator ") + shown_as + "? expected commas)";
  }
  throw DataError(path_.string() + ": no column " + joined(missing) + hint + "; the header is " +
                  shown(joined(header_), kLongestHeader));
}

}  // namespace pw
