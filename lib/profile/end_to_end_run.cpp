#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "profile/torch_transformer.h"

namespace pw {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<Request> in_leaving_order(std::vector<Request> requests) {
  std::stable_sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) {
    return std::pair(a.output_tokens, a.input_tokens) > std::pair(b.output_tokens, b.input_tokens);
  });
  return requests;
}

EndToEndRun run_end_to_end(Transformer& model, const ModelConfig& config,
                           const std::vector<Request>& requests) {
  std::mt19937 generator(1);
  Transformer::Tokens tokens;
  for (const Request& request : requests) {
    tokens.emplace_back();
    for (std::int64_t i = 0; i < request.input_tokens; ++i) {
      tokens.back().push_back(static_cast<std::int64_t>(generator()) % config.vocab_size);
    }
  }
  model.reset();
  EndToEndRun run;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::int64_t> next = model.forward(tokens);
  run.prefill_s = seconds_since(start);
  for (std::int64_t step = 1; step < requests.front().output_tokens; ++step) {
    const auto step_start = std::chrono::steady_clock::now();
    tokens.clear();
    for (std::size_t i = 0; i < requests.size() && requests[i].output_tokens > step; ++i) {
      tokens.push_back({next[i]});
    }
    next = model.forward(tokens);
    run.decode_s.push_back(seconds_since(step_start));
  }
  run.total_s = seconds_since(start);
  return run;
}

}  // namespace pw
