// Request traces of any content, and batches of them.
#include <algorithm>

#include "fuzz_input.h"
#include "pw/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("trace.csv");
  fuzz::takes([&] {
    const Trace trace = read_trace(input.write(fuzz::as_text(data, size)));
    fuzz::require(!trace.requests.empty(), "a trace has requests");
    fuzz::require(std::all_of(trace.requests.begin(), trace.requests.end(),
                              [](const Request& each) {
                                return each.input_tokens > 0 && each.output_tokens > 0;
                              }),
                  "a request has at least one token in and out");
    const Trace last = select_batch(trace, 1, static_cast<std::int64_t>(trace.requests.size()) - 1);
    fuzz::require(last.requests.size() == 1, "the last request is a batch");
  });
  return 0;
}
