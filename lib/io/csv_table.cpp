#include "io/csv_table.h"

#include <algorithm>

#include "io/files.h"
#include "io/text.h"
#include "parallel.h"

namespace pw {
namespace {

enum class Quoting { good, text_after_quote, unclosed };

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Moves the field at the start of `rest`, which starts with a quote, to `cells`; `rest` then starts
// at the comma behind it or is empty. A cell with doubled quotes is kept in `unescaped`.
Quoting take_quoted(std::string_view& rest, std::vector<std::string_view>& cells,
                    std::list<std::string>& unescaped) {
  std::string text;
  bool has_doubled_quotes = false;
  for (;;) {
    rest.remove_prefix(1);  // the opening quote, or the second of a doubled one
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return Quoting::unclosed;
    const std::string_view piece = rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    const bool is_doubled = !rest.empty() && rest.front() == '"';
    has_doubled_quotes |= is_doubled;
    if (has_doubled_quotes) {
      text += piece;
      if (is_doubled) text += '"';
    }
    if (is_doubled) continue;
    cells.push_back(has_doubled_quotes ? unescaped.emplace_back(std::move(text)) : piece);
    break;
  }
  rest = without_leading_blanks(rest);
  return rest.empty() || rest.front() == ',' ? Quoting::good : Quoting::text_after_quote;
}

// Appends the fields of a line, unquoted and trimmed, to `cells`. When the quoting is bad, a cell
// that was closed may be among them.
Quoting split_line(std::string_view rest, std::vector<std::string_view>& cells,
                   std::list<std::string>& unescaped) {
  for (;;) {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '"') {
      const Quoting quoting = take_quoted(rest, cells, unescaped);
      if (quoting != Quoting::good) return quoting;
    } else {
      const std::size_t end = std::min(rest.find(','), rest.size());
      cells.push_back(without_trailing_blanks(rest.substr(0, end)));
      rest.remove_prefix(end);
    }
    if (rest.empty()) return Quoting::good;
    rest.remove_prefix(1);  // the comma
  }
}

// The lines of the text without their ends.
std::vector<std::string_view> lines_of(std::string_view rest) {
  std::vector<std::string_view> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

CsvTable CsvTable::read(const std::filesystem::path& path) {
  constexpr std::size_t kFewestLinesOfAThread = 2000;
  CsvTable table;
  table.path_ = path;
  table.bytes_ = std::make_unique<const std::string>(read_file(path));
  const std::vector<std::string_view> lines = lines_of(checked_text(*table.bytes_, path.string()));
  const auto header = std::find_if(lines.begin(), lines.end(),
                                   [](std::string_view line) { return !trimmed(line).empty(); });
  const auto before_rows = static_cast<std::size_t>(header - lines.begin()) + 1;
  table.set_header(*header, before_rows);
  auto parts = in_parts(lines.size() - before_rows, kFewestLinesOfAThread,
                        [&](std::size_t begin, std::size_t end) {
                          return table.split_rows(lines, before_rows, begin, end);
                        });
  for (Rows& part : parts) table.rows_.append(std::move(part));
  return table;
}

void CsvTable::set_header(std::string_view line, std::size_t line_number) {
  const char first = trimmed(line).front();
  if (first == '{' || first == '[') {
    throw DataError(at_line(line_number) + "this looks like JSON, expected a CSV header");
  }
  std::vector<std::string_view> names;
  std::list<std::string> unescaped;
  if (split_line(line, names, unescaped) != Quoting::good) {
    throw DataError(at_line(line_number) + "the header has a quote that is not closed well");
  }
  header_.assign(names.begin(), names.end());
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (!header_[i].empty()) named_columns_ = i + 1;
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

CsvTable::Rows CsvTable::split_rows(const std::vector<std::string_view>& lines, std::size_t first,
                                    std::size_t begin, std::size_t end) const {
  begin += first;
  end += first;
  Rows rows;
  // The first part takes in the others: it holds all of them without moving.
  const std::size_t expected = begin == first ? lines.size() - first : end - begin;
  rows.cells.reserve(std::min(bytes_->size(), expected * header_.size()));
  rows.lines.reserve(expected);
  for (std::size_t i = begin; i < end; ++i) {
    if (!trimmed(lines[i]).empty()) add_row(lines[i], i + 1, rows);
  }
  return rows;
}

void CsvTable::add_row(std::string_view line, std::size_t line_number, Rows& rows) const {
  const std::size_t old_cells = rows.cells.size();
  const Quoting quoting = split_line(line, rows.cells, rows.unescaped);
  const std::size_t fields = rows.cells.size() - old_cells;
  std::string reason;
  if (quoting == Quoting::unclosed) {
    throw DataError(at_line(line_number) + "a quote opens in field " + std::to_string(fields + 1) +
                    " and is not closed in this line");
  }
  const auto is_filled = [](std::string_view cell) { return !cell.empty(); };
  if (quoting == Quoting::text_after_quote) {
    reason = "text behind the closing quote of field " + std::to_string(fields);
  } else if (fields != header_.size()) {
    reason = std::to_string(fields) + " fields, expected " + std::to_string(header_.size());
    if (line.find('[') != std::string_view::npos) reason += " (is a list without quotes?)";
  } else if (std::any_of(rows.cells.end() - static_cast<std::ptrdiff_t>(fields - named_columns_),
                         rows.cells.end(), is_filled)) {
    reason = "a value in a column that has no name";
  }
  if (reason.empty()) {
    rows.lines.push_back(line_number);
    return;
  }
  rows.bad_lines.push_back({line_number, reason});
  rows.cells.resize(old_cells);
}

void CsvTable::Rows::append(Rows&& more) {
  if (lines.empty() && bad_lines.empty()) {
    *this = std::move(more);
    return;
  }
  cells.insert(cells.end(), more.cells.begin(), more.cells.end());
  lines.insert(lines.end(), more.lines.begin(), more.lines.end());
  bad_lines.insert(bad_lines.end(), more.bad_lines.begin(), more.bad_lines.end());
  unescaped.splice(unescaped.end(), more.unescaped);
}

std::string CsvTable::at_line(std::size_t line_number) const {
  return path_.string() + ":" + std::to_string(line_number) + ": ";
}

void CsvTable::require_no_bad_lines() const {
  if (rows_.bad_lines.empty()) return;
  const std::size_t more = rows_.bad_lines.size() - 1;
  throw DataError(at_line(rows_.bad_lines.front().line) + rows_.bad_lines.front().reason +
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
