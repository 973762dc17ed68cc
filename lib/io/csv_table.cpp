#include "io/csv_table.h"

#include <algorithm>

#include "comma_list.h"
#include "io/csv_line.h"
#include "io/files.h"
#include "io/text.h"
#include "parallel.h"

namespace pw {
namespace {

// The lines of the text without their ends.
std::vector<std::string_view> lines_of(std::string_view rest) {
  std::vector<std::string_view> lines;
  lines.reserve(static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')) + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

std::string at(const std::filesystem::path& path, std::size_t line) {  // "gemm.csv:17: "
  return path.string() + ":" + std::to_string(line) + ": ";
}

}  // namespace

CsvTable CsvTable::read(const std::filesystem::path& path) {
  constexpr std::size_t kLinesOfAPart = 1000;
  CsvTable table = read_header(path);
  const std::size_t lines = table.lines_behind_header();
  table.cells_.reserve(std::min(table.bytes().size(), lines * table.header().size()));
  table.lines_.reserve(lines);
  in_parts(
      lines, kLinesOfAPart,
      [&](std::size_t begin, std::size_t end) { return table.rows_in_lines(begin, end); },
      [&](CsvTable&& part) { table.append(std::move(part)); });
  return table;
}

CsvTable CsvTable::read_header(const std::filesystem::path& path) {
  return read_header(path, std::make_shared<FileBytes>(read_bytes(path)));
}

CsvTable CsvTable::read_header(const std::filesystem::path& path,
                               std::shared_ptr<const FileBytes> bytes) {
  const auto file = std::make_shared<File>();
  file->path = path;
  file->bytes = std::move(bytes);
  file->lines = lines_of(checked_text(file->bytes->view(), path.string()));
  const auto header = std::find_if(file->lines.begin(), file->lines.end(),
                                   [](std::string_view line) { return !trimmed(line).empty(); });
  file->header_line = static_cast<std::size_t>(header - file->lines.begin()) + 1;
  set_header(*header, *file);
  return CsvTable(file);
}

void CsvTable::set_header(std::string_view line, File& file) {
  const std::string at_line = at(file.path, file.header_line);
  const char first = trimmed(line).front();
  if (first == '{' || first == '[') {
    throw DataError(at_line + "this looks like JSON, expected a CSV header");
  }
  std::vector<std::string_view> names;
  std::list<std::string> unescaped;
  if (split_line(line, names, unescaped) != Quoting::good) {
    throw DataError(at_line + "the header has a quote that is not closed well");
  }
  file.header.assign(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) file.named_columns = i + 1;
  }
  for (std::size_t i = 0; i < file.named_columns; ++i) {
    if (names[i].empty() && i > 0) {
      throw DataError(at_line + "column " + std::to_string(i + 1) + " of the header has no name");
    }
    const auto same = std::find(names.begin(), names.end(), names[i]);
    if (static_cast<std::size_t>(same - names.begin()) != i) {
      throw DataError(at_line + "the column '" + file.header[i] + "' occurs twice in the header");
    }
  }
  if (file.named_columns == 0) throw DataError(at_line + "the header has no names");
}

CsvTable CsvTable::rows_in_lines(std::size_t begin, std::size_t end) const {
  CsvTable rows(file_);
  rows.cells_.reserve(std::min(bytes().size(), (end - begin) * header().size()));
  rows.lines_.reserve(end - begin);
  for (std::size_t i = file_->header_line + begin; i < file_->header_line + end; ++i) {
    if (!trimmed(file_->lines[i]).empty()) rows.add_row(file_->lines[i], i + 1);
  }
  return rows;
}

void CsvTable::add_row(std::string_view line, std::size_t line_number) {
  const std::size_t old_cells = cells_.size();
  const Quoting quoting = split_line(line, cells_, unescaped_);
  const std::size_t fields = cells_.size() - old_cells;
  std::string reason;
  if (quoting == Quoting::unclosed) {
    throw DataError(at(path(), line_number) + "a quote opens in field " +
                    std::to_string(fields + 1) + " and is not closed in this line");
  }
  const auto is_filled = [](std::string_view cell) { return !cell.empty(); };
  if (quoting == Quoting::text_after_quote) {
    reason = "text behind the closing quote of field " + std::to_string(fields);
  } else if (fields != header().size()) {
    reason = std::to_string(fields) + " fields, expected " + std::to_string(header().size());
    if (line.find('[') != std::string_view::npos) reason += " (is a list without quotes?)";
  } else if (std::any_of(cells_.end() - static_cast<std::ptrdiff_t>(fields - file_->named_columns),
                         cells_.end(), is_filled)) {
    reason = "a value in a column that has no name";
  }
  if (reason.empty()) {
    lines_.push_back(line_number);
    return;
  }
  bad_lines_.push_back({line_number, reason});
  cells_.resize(old_cells);
}

void CsvTable::append(CsvTable&& rows) {
  cells_.insert(cells_.end(), rows.cells_.begin(), rows.cells_.end());
  lines_.insert(lines_.end(), rows.lines_.begin(), rows.lines_.end());
  bad_lines_.insert(bad_lines_.end(), rows.bad_lines_.begin(), rows.bad_lines_.end());
  unescaped_.splice(unescaped_.end(), rows.unescaped_);
}

void CsvTable::require_no_bad_lines() const {
  if (bad_lines_.empty()) return;
  const std::size_t more = bad_lines_.size() - 1;
  throw DataError(at(path(), bad_lines_.front().line) + bad_lines_.front().reason +
                  (more > 0 ? " (and " + std::to_string(more) + " more bad lines)" : ""));
}

std::size_t CsvTable::find_column(std::string_view name) const {
  const auto found = std::find(header().begin(), header().end(), name);
  return found == header().end() ? npos : static_cast<std::size_t>(found - header().begin());
}

std::size_t CsvTable::column(std::string_view name) const {
  const std::size_t found = find_column(name);
  if (found == npos) require_columns({name});
  return found;
}

void CsvTable::require_columns(const std::vector<std::string_view>& names) const {
  std::vector<std::string> missing;
  for (const std::string_view name : names) {
    const std::string quoted = "'" + std::string(name) + "'";
    const bool is_listed = std::find(missing.begin(), missing.end(), quoted) != missing.end();
    if (find_column(name) == npos && !is_listed) missing.push_back(quoted);
  }
  if (missing.empty()) return;
  constexpr std::size_t kLongestHeader = 400;
  std::string hint;
  for (const auto& [separator, shown_as] : {std::pair(';', ";"), std::pair('\t', "tab")}) {
    if (header().front().find(separator) == std::string::npos) continue;
    hint = std::string(" (separator ") + shown_as + "? expected commas)";
  }
  throw DataError(path().string() + ": no column " + comma_list(missing) + hint +
                  "; the header is " + shown(comma_list(header()), kLongestHeader));
}

}  // namespace pw
