#include "pw/workload.h"

#include <algorithm>
#include <cctype>

#include "operator_key.h"
#include "pw/int_math.h"
#include "workload_steps.h"

namespace pw {

std::string_view to_string(Phase phase) { return phase == Phase::prefill ? "prefill" : "decode"; }

std::string_view to_string(OperatorGroup group) {
  switch (group) {
    case OperatorGroup::gemm:
      return "gemm";
    case OperatorGroup::attention:
      return "attention";
    case OperatorGroup::rmsnorm:
      return "rmsnorm";
    case OperatorGroup::siluandmul:
      return "siluandmul";
    case OperatorGroup::communication:
      return "communication";
    case OperatorGroup::engine:
      return "engine";
  }
  return "";
}

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

double kv_copies(Phase phase) { return phase == Phase::decode ? kColdCopies : 1; }

std::int64_t num_tokens(const Batch& batch) {
  std::int64_t tokens = 0;
  for (const std::int64_t length : batch.q_lengths) {
    tokens = checked_add(tokens, length);
  }
  return tokens;
}

void add_named(Op op, std::vector<Op>& ops) {
  const std::string name = op.name;
  for (int number = 2;; ++number) {
    const auto same_name =
        std::find_if(ops.begin(), ops.end(), [&](const Op& each) { return each.name == op.name; });
    if (same_name == ops.end()) {
      ops.push_back(std::move(op));
      return;
    }
    if (key_of(same_name->problem) == key_of(op.problem)) {
      same_name->calls = checked_add(same_name->calls, op.calls);
      return;
    }
    op.name = name + "_" + std::to_string(number);
  }
}

std::vector<std::string> families_of(const Workload& workload) {
  std::vector<bool> used(operator_families().size());
  for (const Step& step : workload.steps) {
    for_each_op(step, [&](const Op& op) { used[op.problem.index()] = true; });
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) names.emplace_back(operator_families()[i].name);
  }
  return names;
}

bool communicates(const Workload& workload) {
  return std::any_of(workload.steps.begin(), workload.steps.end(),
                     [](const Step& step) { return !step.body->transfers.empty(); });
}

}  // namespace pw
