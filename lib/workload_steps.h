#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "parallel_split.h"
#include "pw/workload.h"

namespace pw {

// What an iteration holds when the one before it differs in kv_lengths alone, as most decode steps
// do: the same operators but attention.
enum class Repeated {
  listed,
  left_out,  // its attention alone
};

// The iterations of generate_workload one after the other, for those who need not have all of them
// at once. Each has one attention.
class WorkloadSteps {
 public:
  // Model and trace must outlive it. Throws like generate_workload, but std::overflow_error for
  // sizes beyond 2^63.
  WorkloadSteps(const ModelConfig& model, const Trace& trace, const WorkloadOptions& options);

  const std::vector<std::int64_t>& stages() const { return stages_; }  // layers of each

  // Empty behind the last one. Throws std::overflow_error.
  std::optional<Iteration> next(Repeated repeated = Repeated::listed);

 private:
  const ModelConfig& model_;
  const Trace& trace_;
  WorkloadOptions options_;
  std::vector<std::int64_t> stages_;
  RankShape rank_;
  std::vector<std::int64_t> outputs_;  // tokens that each request generates
  std::vector<std::size_t> running_;   // requests that want more
  std::int64_t step_ = 0;
  std::size_t last_decoding_ = 0;  // requests of the last decode step
};

}  // namespace pw
