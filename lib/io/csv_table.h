#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/text_lines.h"
#include "pw/fields.h"

namespace pw {

// A CSV file in memory, strictly read: UTF-8 (a byte-order mark is skipped), comma-separated, a
// header line of distinct names, quoted fields where they hold a comma, LF or CRLF, blank lines
// skipped, spaces around names and unquoted values trimmed. A row is one line of any length: a
// quoted field holds no line end, so that an unclosed quote is found where it stands. The first
// column may lack a name (the index that pandas writes) and so may the last ones (the trailing
// commas that spreadsheets write), whose cells must be empty.
class CsvTable {
 public:
  // A line that is no row: a wrong number of fields, text behind a closing quote, or a value in a
  // last column without a name.
  struct BadLine {
    std::size_t line;
    std::string reason;
  };

  // The whole file. Throws DataError when it cannot be read, is no text (io/text.h) or JSON, has a
  // duplicated name or none in the header, or an unclosed quote. A header without rows is fine. Bad
  // lines are kept out of the rows and listed in bad_lines().
  static CsvTable read(const std::filesystem::path& path);

  CsvTable(CsvTable&&) = default;
  CsvTable& operator=(CsvTable&&) = default;

  const std::filesystem::path& path() const { return file_->path; }
  const std::vector<std::string>& header() const { return file_->header; }
  std::size_t rows() const { return lines_.size(); }
  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * header().size() + column];
  }
  std::size_t line(std::size_t row) const { return lines_[row]; }  // 1-based line in the file
  const std::vector<BadLine>& bad_lines() const { return bad_lines_; }
  // Throws DataError about the first bad line, if there is one: for readers that skip nothing.
  void require_no_bad_lines() const;

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t find_column(std::string_view name) const;  // npos if absent
  // Both throw DataError that names every absent column and shows the header.
  std::size_t column(std::string_view name) const;
  void require_columns(const std::vector<std::string_view>& names) const;

 private:
  friend class CsvReader;
  struct File {
    std::filesystem::path path;
    std::size_t header_line = 0;  // 1-based
    std::vector<std::string> header;
    std::size_t named_columns = 0;  // columns up to the last one that has a name
  };

  explicit CsvTable(std::shared_ptr<const File> file) : file_(std::move(file)) {}
  static void set_header(std::string_view line, File& file);
  void add_row(std::string_view line, std::size_t line_number);
  void append(CsvTable&& rows);

  std::shared_ptr<const File> file_;
  std::vector<std::string_view> cells_;  // rows x columns, unquoted and trimmed
  std::vector<std::size_t> lines_;
  std::vector<BadLine> bad_lines_;
  // What cells are views into: lines of the file, and the cells that differ from them.
  std::list<std::string> texts_;
};

// The rows of a CSV file part by part, for long files whose rows are looked at once. Fetching lines
// is for one thread at a time; their rows can be made by several at once, in any order.
class CsvReader {
 public:
  // Some lines of the file, not yet looked at.
  struct Lines {
    std::string text;               // without their ends, back to back
    std::vector<std::size_t> ends;  // in `text`
    std::size_t first = 0;          // 1-based line of the file
  };

  // Reads the header. This and next() throw DataError where CsvTable::read() does.
  explicit CsvReader(const std::filesystem::path& path, Digest digest = Digest::none);

  const CsvTable& header() const { return header_; }  // a table without rows
  // The next lines: `lines` of them, less at the end of the file and where they are long; none at
  // the end.
  std::optional<Lines> next(std::size_t lines);
  // Throws DataError for an unclosed quote.
  CsvTable rows(Lines&& lines) const;

  // About as many lines as the file has behind its header, once some are read; 0 for a pipe.
  std::size_t expected_lines() const;
  std::string sha256() const { return lines_.sha256(); }  // for Digest::sha256, at the end

 private:
  friend class CsvTable;
  static std::shared_ptr<const CsvTable::File> read_header(const std::filesystem::path& path,
                                                           TextLines& lines);

  TextLines lines_;
  CsvTable header_;
  std::size_t lines_read_;
  std::size_t bytes_read_ = 0;  // behind the header, without line ends
  std::size_t most_bytes_ = 0;  // in a part
};

// One row of a table as a record; the table must outlive it. Numbers are those of io/numbers.h.
class CsvRow : public Fields {
 public:
  CsvRow(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  bool has(std::string_view name) const override;  // column exists and the cell is not empty
  std::int64_t integer(std::string_view name) const override;  // "16", "16.0", "1.6e1", "+16"
  double number(std::string_view name) const override;
  double number(std::size_t column) const;
  bool flag(std::string_view name) const override;  // also "True" and "False", as pandas writes
  std::string text(std::string_view name) const override;
  std::vector<std::int64_t> integers(std::string_view name) const override;  // "[1,2]"
  std::string where(std::string_view name) const override;
  const std::string& name(std::size_t column) const { return table_.header()[column]; }
  std::string where(std::size_t column) const { return where(name(column)); }
  std::string_view cell(std::size_t column) const { return table_.cell(row_, column); }

 private:
  std::string_view value(std::string_view name) const;
  const CsvTable& table_;
  std::size_t row_;
};

// A cell as it must stand in a CSV line: quoted when it holds a comma, a quote, a line end or
// blanks at its ends.
std::string csv_cell(std::string_view text);

}  // namespace pw
