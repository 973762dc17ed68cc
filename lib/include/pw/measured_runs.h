#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pw/trace.h"

namespace pw {

// One run of a batch, seconds.
struct EndToEndRun {
  double prefill_s = 0, total_s = 0;
  std::vector<double> decode_s;  // of each step
};

// Runs in the layout of SGLang's offline benchmark (e2e/README.md), a line each. `run_name`:
// "<model>-<trace>". `origin`: what measured, and on which kernels.
std::string sglang_lines(const std::string& run_name, const std::vector<Request>& requests,
                         const std::vector<EndToEndRun>& runs, const std::string& origin);

}  // namespace pw
