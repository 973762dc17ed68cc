#include "arrival_time.h"

#include <cmath>

#include "io/numbers.h"

namespace pw {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// Reads a text from left to right; everything fails for good once something was not there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // Exactly `digits` digits with a value from `least` to `most`.
  std::int64_t number(std::size_t digits, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = i < rest_.size() ? rest_[i] : ' ';
      if (c < '0' || c > '9') return fail();
      value = 10 * value + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value >= least && value <= most ? value : fail();
  }
  // The digits behind a decimal point, if there is one.
  std::int64_t fraction_ns() {
    if (!accept(".")) return 0;
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (digits < kNsDigits) value = 10 * value + (rest_[digits] - '0');
    }
    for (std::size_t i = digits; i < kNsDigits; ++i) value *= 10;
    rest_.remove_prefix(digits);
    return digits > 0 ? value : fail();
  }
  // Whether one of these characters comes next; it is then passed.
  bool accept(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void require(std::string_view characters) {
    if (!accept(characters)) fail();
  }
  bool at_end() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  static constexpr std::size_t kNsDigits = 9;
  std::int64_t fail() {
    ok_ = false;
    return 0;
  }
  std::string_view rest_;
  bool ok_ = true;
};

// Days from 1970-01-01 to a date of the Gregorian calendar: whole years that begin in March, so
// that the leap day is the last one.
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  constexpr std::int64_t kFrom0000March = 719468;
  const std::int64_t y = month > 2 ? year : year - 1;
  const std::int64_t month_from_march = (month + 9) % 12;
  return 365 * y + y / 4 - y / 100 + y / 400 + (153 * month_from_march + 2) / 5 + day - 1 -
         kFrom0000March;
}

// "Z", "+01:00", "-0530", "+02" or nothing: seconds ahead of UTC.
std::int64_t zone_seconds(Scanner& scanner) {
  if (scanner.at_end() || scanner.accept("Zz")) return 0;
  const bool behind = scanner.accept("-");
  if (!behind) scanner.require("+");
  const std::int64_t hours = scanner.number(2, 0, 23);
  std::int64_t minutes = 0;
  if (!scanner.at_end()) {
    scanner.accept(":");
    minutes = scanner.number(2, 0, 59);
  }
  return (behind ? -1 : 1) * (3600 * hours + 60 * minutes);
}

std::optional<std::int64_t> parse_date_time(std::string_view text) {
  Scanner scanner(text);
  const std::int64_t year = scanner.number(4, 1970, 2200);  // within int64 nanoseconds
  scanner.require("-/");
  const std::int64_t month = scanner.number(2, 1, 12);
  scanner.require("-/");
  const std::int64_t day = scanner.number(2, 1, 31);
  scanner.require(" Tt");
  const std::int64_t hour = scanner.number(2, 0, 23);
  scanner.require(":");
  const std::int64_t minute = scanner.number(2, 0, 59);
  scanner.require(":");
  const std::int64_t second = scanner.number(2, 0, 60);  // 60: a leap second
  const std::int64_t fraction = scanner.fraction_ns();
  const std::int64_t zone = zone_seconds(scanner);
  if (!scanner.ok() || !scanner.at_end()) return std::nullopt;
  const std::int64_t seconds =
      86400 * days_since_1970(year, month, day) + 3600 * hour + 60 * minute + second - zone;
  return seconds * kNsPerSecond + fraction;
}

}  // namespace

std::optional<std::int64_t> parse_arrival_ns(std::string_view text, std::int64_t unit_ns) {
  const auto number = parse_number(text);
  if (!number) return parse_date_time(text);
  const double ns = std::round(*number * static_cast<double>(unit_ns));
  constexpr double kMost = 9.2e18;
  if (!(std::fabs(ns) < kMost)) return std::nullopt;
  return static_cast<std::int64_t>(ns);
}

}  // namespace pw
