#pragma once

#include <chrono>
#include <ostream>
#include <string>

namespace pw {

// How far long work is: one line that is written over and over when stderr is a terminal, else a
// line every few seconds.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& stream);

  // Whether it is time for the next line; the first one is due at once.
  bool is_due();
  void print(const std::string& text);
  // Ends the line of a terminal.
  void finish();
  double seconds() const;  // since it was made

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& stream_;
  bool on_terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

// "1:05"
std::string minutes(double seconds);

}  // namespace pw
