#include "pw/workload.h"

#include <algorithm>
#include <cctype>

#include "pw/int_math.h"

namespace pw {

std::string_view to_string(Phase phase) { return phase == Phase::prefill ? "prefill" : "decode"; }

std::string_view collective_of(std::string_view name, std::string_view type) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto names = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (names("all_reduce")) {
    return "all_reduce";
  }
  return names("send") || names("recv") || type == "p2p" ? "send_recv" : "";
}

OperatorConfig operator_of(const GemmEntry& entry) {
  if (!entry.fp8) return entry.config;
  Fp8GemmConfig config;
  config.m = entry.config.m;
  config.n = entry.config.n;
  config.k = entry.config.k;
  return config;
}

double kv_copies(Phase phase) { return phase == Phase::decode ? kColdCopies : 1; }

std::int64_t num_tokens(const Iteration& iteration) {
  std::int64_t tokens = 0;
  for (const std::int64_t length : iteration.q_lengths) {
    tokens = checked_add(tokens, length);
  }
  return tokens;
}

}  // namespace pw
