#include "pw/measured_runs.h"

#include <algorithm>

#include "io/json_file.h"
#include "statistics.h"

namespace pw {

std::string sglang_lines(const std::string& run_name, const std::vector<Request>& requests,
                         const std::vector<EndToEndRun>& runs, const std::string& origin) {
  std::int64_t prompt = 0, output = 0, longest_prompt = 0, longest_output = 0;
  for (const Request& request : requests) {
    prompt += request.input_tokens;
    output += request.output_tokens;
    longest_prompt = std::max(longest_prompt, request.input_tokens);
    longest_output = std::max(longest_output, request.output_tokens);
  }
  const auto requests_count = static_cast<std::int64_t>(requests.size());
  std::string lines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const EndToEndRun& run = runs[i];
    Json line = {{"run_name", run_name},
                 {"batch_size", requests_count},
                 {"input_len", longest_prompt},
                 {"output_len", longest_output},
                 {"prefill_latency", run.prefill_s},
                 {"prefill_throughput", static_cast<double>(prompt) / run.prefill_s}};
    if (!run.decode_s.empty()) {
      line["median_decode_latency"] = median(run.decode_s);
    }
    line["total_latency"] = run.total_s;
    line["overall_throughput"] = static_cast<double>(prompt + output) / run.total_s;
    line["iteration"] = i;
    line["total_prefill_tokens"] = prompt;
    line["total_decode_tokens"] = output - requests_count;
    line["origin"] = origin;
    lines += line.dump() + "\n";
  }
  return lines;
}

}  // namespace pw
