#include "io/text_lines.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <future>

#include <sys/mman.h>

#define CSV_IO_NO_THREAD  // the threads that read CSVs are ours
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"  // of a file name in its messages
#endif
#include <csv.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "io/files.h"
#include "io/sha256.h"
#include "io/text.h"

namespace pw {
namespace {

// io::LineReader refuses lines of more than 2^20 bytes, in some versions 2^24, with their ends.
// What is longer reaches it in pieces of this length, each with a line end that the file does not
// have.
constexpr std::size_t kPieceOfLine = (std::size_t{1} << 20) - 16;

// Bytes that are checked at once, while they are in the processor's cache and another thread hashes
// them; few are hashed by this one.
constexpr std::size_t kBytesAtOnce = std::size_t{1} << 19;
constexpr std::size_t kFewBytes = std::size_t{1} << 16;

// For which pages of 2 MiB pay.
constexpr std::size_t kLargeFile = std::size_t{1} << 20;

// A LineReader's buffer of up to 48 MiB is new memory for each file; to be given it in pages of 4
// KiB takes longer than to read the file. A hint: where it is not taken, all works as well.
void use_large_pages(char* buffer, std::size_t size) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage,
                       end = (begin + size) / kPage * kPage;
  if (first < end) ::madvise(buffer + (first - begin), end - first, MADV_HUGEPAGE);
}

}  // namespace

// The bytes of the file for io::LineReader, hashed and checked as they pass.
class TextLines::Source {
 public:
  Source(const std::filesystem::path& path, Digest digest)
      : file_(path), check_(path.string()), hashes_(digest == Digest::sha256) {}

  // Fills the buffer unless the file ends: a LineReader takes anything less for the end.
  int read(char* buffer, int size) {
    if (file_.file_size() >= kLargeFile) use_large_pages(buffer, static_cast<std::size_t>(size));
    char* to = buffer;
    char* const end = buffer + size;
    std::future<void> hashing;  // waited for at the end: the buffer is the LineReader's then
    while (to != end && !is_at_end_) {
      if (bytes_of_line_ == kPieceOfLine) {
        broken_lines_.push_back(check_.line_ends() + ++breaks_);
        *to++ = '\n';
        bytes_of_line_ = 0;
        continue;
      }
      const std::size_t wanted = std::min(
          {static_cast<std::size_t>(end - to), kBytesAtOnce, kPieceOfLine - bytes_of_line_});
      const std::size_t count = file_.read(to, wanted);
      take({to, count}, hashing);
      to += count;
      if (count == wanted) continue;
      is_at_end_ = true;
      check_.end();
      // A LineReader would look for the end of a last line without one in bytes of earlier lines.
      if (is_in_line_) *to++ = '\n';
    }
    return static_cast<int>(to - buffer);
  }

  // Whether the line of that number, from 1 on and as the LineReader counts, ends where the file's
  // does not. To be asked in the order of the lines.
  bool is_broken(std::size_t line) {
    if (broken_lines_.empty() || broken_lines_.front() != line) return false;
    broken_lines_.pop_front();
    return true;
  }

  std::size_t file_size() const { return file_.file_size(); }
  std::string sha256() const { return sha256_.hex(); }

 private:
  // The bytes stay as they are until `hashing` is done.
  void hash(std::string_view bytes, std::future<void>& hashing) {
    if (!hashes_) return;
    if (hashing.valid()) hashing.get();
    if (bytes.size() <= kFewBytes) return sha256_.add(bytes);
    hashing = std::async(std::launch::async, [this, bytes] { sha256_.add(bytes); });
  }

  void take(std::string_view bytes, std::future<void>& hashing) {
    if (bytes.empty()) return;
    const bool is_first = bytes_of_line_ == 0 && !is_in_line_ && check_.line_ends() == 0;
    hash(bytes, hashing);
    check_.add(bytes);
    const std::size_t last_end = bytes.rfind('\n');
    bytes_of_line_ = last_end == std::string_view::npos ? bytes_of_line_ + bytes.size()
                                                        : bytes.size() - last_end - 1;
    is_in_line_ = bytes.back() != '\n';
    // A LineReader drops the byte-order mark.
    if (is_first && last_end == std::string_view::npos &&
        bytes.substr(0, kUtf8Mark.size()) == kUtf8Mark) {
      bytes_of_line_ -= kUtf8Mark.size();
    }
  }

  FileReader file_;
  TextCheck check_;
  Sha256 sha256_;
  bool hashes_;
  std::size_t bytes_of_line_ = 0;  // since its start or the last break
  bool is_in_line_ = false;        // the last byte was no line end of the file's
  bool is_at_end_ = false;
  std::size_t breaks_ = 0;
  std::deque<std::size_t> broken_lines_;  // that are still to be asked for
};

class TextLines::Reader {
 public:
  Reader(const std::filesystem::path& path, Digest digest)
      : source_(path, digest), lines_(path.string(), std::make_unique<Bytes>(source_)) {}

  std::optional<std::string_view> next() {
    const char* line = next_piece();
    if (line == nullptr) return std::nullopt;
    if (!source_.is_broken(pieces_)) return line;
    joined_.clear();
    do {
      joined_ += line;
      // The piece may have ended with a CR, which was taken for a part of the line end.
      if (joined_.size() % kPieceOfLine != 0) joined_ += '\r';
      line = next_piece();
    } while (line != nullptr && source_.is_broken(pieces_));
    if (line != nullptr && *line != '\0') {
      joined_ += line;
    } else if (joined_.back() == '\r') {
      joined_.pop_back();
    }
    return joined_;
  }

  const Source& source() const { return source_; }

 private:
  // A LineReader destroys what it is given as soon as the file has ended.
  class Bytes : public io::ByteSourceBase {
   public:
    explicit Bytes(Source& source) : source_(source) {}
    int read(char* buffer, int size) override { return source_.read(buffer, size); }

   private:
    Source& source_;
  };

  const char* next_piece() {
    ++pieces_;
    return lines_.next_line();
  }

  Source source_;
  io::LineReader lines_;
  std::size_t pieces_ = 0;
  std::string joined_;  // a line that came in pieces
};

TextLines::TextLines(const std::filesystem::path& path, Digest digest)
    : reader_(std::make_unique<Reader>(path, digest)) {}
TextLines::~TextLines() = default;
TextLines::TextLines(TextLines&&) noexcept = default;
TextLines& TextLines::operator=(TextLines&&) noexcept = default;

std::optional<std::string_view> TextLines::next() { return reader_->next(); }
std::size_t TextLines::file_size() const { return reader_->source().file_size(); }
std::string TextLines::sha256() const { return reader_->source().sha256(); }

}  // namespace pw
