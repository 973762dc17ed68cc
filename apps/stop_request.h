#pragma once

namespace pw {

// While it lives, the first SIGINT (Ctrl-C) or SIGTERM asks the program to end in order; a second
// one ends it at once, as usual.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  static bool is_made();
};

}  // namespace pw
