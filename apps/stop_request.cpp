#include "stop_request.h"

#include <csignal>

#include <unistd.h>

#include "app.h"
#include "io/files.h"

namespace pw {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t stop_requested = 0;

// Made before the handler that writes it, which must not allocate.
std::string& end_message() {
  static std::string text;
  return text;
}

void end_now() {
  const std::string& text = end_message();
  // Nothing can be done about an error here.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(kStopped);
}

void end(int /*signal*/) { end_between_writes(end_now); }

void request_stop(int signal) {
  stop_requested = 1;
  std::signal(signal, end);
}

void handle_signals(void (*handler)(int)) {
  for (const int signal : kSignals) {
    if (std::signal(signal, handler) == SIG_IGN) {
      std::signal(signal, SIG_IGN);
    }
  }
}

}  // namespace

void end_on_signals(const std::string& program) {
  end_message() = program + ": stopped by a signal; no file is left half-written\n";
  handle_signals(end);
}

StopRequest::StopRequest() { handle_signals(request_stop); }

StopRequest::~StopRequest() { handle_signals(end); }

bool StopRequest::is_made() { return stop_requested != 0; }

}  // namespace pw
