#include "stop_request.h"

#include <csignal>

namespace pw {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopRequest::StopRequest() {
  for (const int signal : kSignals) {
    std::signal(signal, request_stop);
  }
}

StopRequest::~StopRequest() {
  for (const int signal : kSignals) {
    std::signal(signal, SIG_DFL);
  }
}

bool StopRequest::is_made() { return stop_requested != 0; }

}  // namespace pw
