#include "progress_line.h"

#include <cstdio>

#include <unistd.h>

namespace pw {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr auto kPlainInterval = std::chrono::seconds(5);

}  // namespace

ProgressLine::ProgressLine(std::ostream& stream)
    : stream_(stream), on_terminal_(isatty(STDERR_FILENO) == 1) {}

bool ProgressLine::is_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + (on_terminal_ ? Clock::duration(kTerminalInterval) : kPlainInterval);
  return true;
}

void ProgressLine::print(const std::string& text) {
  stream_ << (on_terminal_ ? "\r\x1b[K" : "") << text << (on_terminal_ ? "" : "\n") << std::flush;
}

void ProgressLine::finish() {
  if (on_terminal_) stream_ << '\n';
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string minutes(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

}  // namespace pw
