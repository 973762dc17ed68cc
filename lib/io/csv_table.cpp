#include "io/csv_table.h"

#include <algorithm>
#include <utility>

#include "comma_list.h"
#include "io/csv_line.h"
#include "io/text.h"
#include "parallel.h"

namespace pw {
namespace {

std::string at(const std::filesystem::path& path, std::size_t line) {  // "gemm.csv:17: "
  return path.string() + ":" + std::to_string(line) + ": ";
}

}  // namespace

CsvTable CsvTable::read(const std::filesystem::path& path) {
  constexpr std::size_t kLinesOfAPart = 256;  // whose cells stay in a processor's cache
  CsvReader reader(path);
  CsvTable table(reader.header().file_);
  bool is_first = true;
  in_order(
      [&] {
        auto lines = reader.next(kLinesOfAPart);
        if (std::exchange(is_first, false)) {
          table.lines_.reserve(reader.expected_lines());
          table.cells_.reserve(
              std::min(reader.lines_.file_size(), reader.expected_lines() * table.header().size()));
        }
        return lines;
      },
      [&](CsvReader::Lines&& lines) { return reader.rows(std::move(lines)); },
      [&](CsvTable&& rows) { table.append(std::move(rows)); });
  return table;
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

void CsvTable::add_row(std::string_view line, std::size_t line_number) {
  const std::size_t old_cells = cells_.size();
  const Quoting quoting = split_line(line, cells_, texts_);
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
  texts_.splice(texts_.end(), rows.texts_);
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

CsvReader::CsvReader(const std::filesystem::path& path, Digest digest)
    : lines_(path, digest),
      header_(read_header(path, lines_)),
      lines_read_(header_.file_->header_line) {}

std::shared_ptr<const CsvTable::File> CsvReader::read_header(const std::filesystem::path& path,
                                                             TextLines& lines) {
  const auto file = std::make_shared<CsvTable::File>();
  file->path = path;
  while (const auto line = lines.next()) {
    ++file->header_line;
    if (trimmed(*line).empty()) continue;
    CsvTable::set_header(*line, *file);
    break;
  }
  return file;
}

std::optional<CsvReader::Lines> CsvReader::next(std::size_t lines) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // in lines of usual lengths
  Lines part;
  part.first = lines_read_ + 1;
  part.ends.reserve(lines);
  part.text.reserve(most_bytes_ + most_bytes_ / 8);
  while (part.ends.size() < lines && part.text.size() < kMostBytes) {
    const auto line = lines_.next();
    if (!line) break;
    part.text += *line;
    part.ends.push_back(part.text.size());
  }
  if (part.ends.empty()) return std::nullopt;
  lines_read_ += part.ends.size();
  bytes_read_ += part.text.size();
  most_bytes_ = std::max(most_bytes_, part.text.size());
  return part;
}

CsvTable CsvReader::rows(Lines&& lines) const {
  CsvTable rows(header_.file_);
  const std::string_view text = rows.texts_.emplace_back(std::move(lines.text));
  rows.cells_.reserve(std::min(text.size(), lines.ends.size() * rows.header().size()));
  rows.lines_.reserve(lines.ends.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i < lines.ends.size(); ++i) {
    const std::string_view line = text.substr(begin, lines.ends[i] - begin);
    if (!trimmed(line).empty()) rows.add_row(line, lines.first + i);
    begin = lines.ends[i];
  }
  return rows;
}

std::size_t CsvReader::expected_lines() const {
  const std::size_t lines = lines_read_ - header_.file_->header_line;
  // As long as those read so far on the average; some more, as that is a guess.
  const double part = static_cast<double>(lines_.file_size()) /
                      static_cast<double>(std::max<std::size_t>(bytes_read_ + lines, 1));
  return static_cast<std::size_t>(1.05 * part * static_cast<double>(lines));
}

}  // namespace pw
