#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "parallel_split.h"
#include "pw/step_maker.h"
#include "pw/workload.h"

namespace pw {

// The steps of generate_workload one after the other, for those who need not have all of them at
// once. Steps that differ in attention alone share their body.
class WorkloadSteps {
 public:
  // Model and trace must outlive it. Throws like generate_workload, but std::overflow_error for
  // sizes beyond 2^63.
  WorkloadSteps(const ModelConfig& model, const Trace& trace, const WorkloadOptions& options);

  const std::vector<std::int64_t>& stages() const { return stages_; }  // layers of each

  // Empty after the last one. Throws std::overflow_error.
  std::optional<Step> next();

 private:
  const Trace& trace_;
  StepMaker maker_;
  std::vector<std::int64_t> stages_;
  std::vector<std::int64_t> outputs_;  // tokens that each request generates
  std::vector<std::size_t> running_;   // requests that want more
  std::int64_t number_ = 0;            // of the last step
};

// Appends an operator; one that is there already gets its calls, another problem of its name the
// name with the next number: "qkv_proj_2".
void add_named(Op op, std::vector<Op>& ops);

// With published_rules an open kernel is fa2.
AttentionKernel effective_kernel(AttentionKernel kernel, const WorkloadOptions& options);

// Workload::facts. `stages`: layers of each.
Facts workload_facts(const ModelConfig& model, const Trace& trace,
                     const std::vector<std::int64_t>& stages, const WorkloadOptions& options);

}  // namespace pw
