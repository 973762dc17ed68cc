#pragma once

#include <string>

namespace pw {

// From here on SIGINT (Ctrl-C) and SIGTERM end the program with kStopped and one sentence that
// begins with `program`. What was written of a file goes, so that each output is the old one or
// the new one. A signal that the caller had ignored stays ignored.
void end_on_signals(const std::string& program);

// While it lives, the first of these signals asks the program to end in order; a second one ends it
// as above.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  static bool is_made();
};

}  // namespace pw
