#include "io/csv_line.h"

#include <algorithm>
#include <cstdint>

#include "io/little_endian.h"
#include "io/text.h"

namespace pw {
namespace {

// Appends the text without the blanks at its ends.
void add_cell(std::string_view text, std::vector<std::string_view>& cells) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (begin != end && is_blank(*begin)) ++begin;
  while (begin != end && is_blank(end[-1])) --end;
  // In place: a view that is first built and then copied costs half of the time of splitting.
  cells.emplace_back(begin, static_cast<std::size_t>(end - begin));
}

// Bit i: whether byte i of the eight is a comma. The subtraction-free test for a zero byte, whose
// result, one bit in each byte, a product gathers in its highest byte.
std::uint64_t commas_of_eight(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kLowBits = 0x7F * kOnes;
  constexpr std::uint64_t kGather = 0x0102040810204080;
  const std::uint64_t zero_at_comma = little_endian_word(bytes) ^ kOnes * ',';
  const std::uint64_t high_bits = ~(((zero_at_comma & kLowBits) + kLowBits) | zero_at_comma);
  return ((high_bits >> 7 & kOnes) * kGather) >> 56;
}

constexpr std::size_t kBlock = 64;  // bytes whose commas one word holds

// Bit i: whether byte i of at most kBlock is a comma.
std::uint64_t commas_of(std::string_view block) {
  std::uint64_t commas = 0;
  std::size_t i = 0;
  for (; i + 8 <= block.size(); i += 8) commas |= commas_of_eight(block.data() + i) << i;
  for (; i < block.size(); ++i) commas |= std::uint64_t{block[i] == ','} << i;
  return commas;
}

void split_without_quotes(std::string_view line, std::vector<std::string_view>& cells) {
  std::size_t begin = 0;
  for (std::size_t block = 0; block <= line.size(); block += kBlock) {
    const std::string_view rest = line.substr(block);
    std::uint64_t ends = commas_of(rest.substr(0, kBlock));
    if (rest.size() < kBlock) ends |= std::uint64_t{1} << rest.size();
    for (; ends != 0; ends &= ends - 1) {
      const std::size_t end = block + static_cast<std::size_t>(__builtin_ctzll(ends));
      add_cell(line.substr(begin, end - begin), cells);
      begin = end + 1;
    }
  }
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

}  // namespace

Quoting split_line(std::string_view line, std::vector<std::string_view>& cells,
                   std::list<std::string>& unescaped) {
  if (line.find('"') == std::string_view::npos) {
    split_without_quotes(line, cells);
    return Quoting::good;
  }
  for (std::string_view rest = line;; rest.remove_prefix(1)) {  // the comma
    rest = without_leading_blanks(rest);
    if (!rest.empty() && rest.front() == '"') {
      const Quoting quoting = take_quoted(rest, cells, unescaped);
      if (quoting != Quoting::good) return quoting;
    } else {
      const std::size_t end = std::min(rest.find(','), rest.size());
      add_cell(rest.substr(0, end), cells);
      rest.remove_prefix(end);
    }
    if (rest.empty()) return Quoting::good;
  }
}

}  // namespace pw
