#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/model_config.h"
#include "pw/step.h"
#include "pw/trace.h"

namespace pw {

struct Workload {
  ModelConfig model;  // of a file: its model and model_params
  std::string stem;   // file stem, "Qwen2.5-14B_arxiv_8_fa2_tp1_pp1"
  std::string trace;  // trace stem, empty when the file does not tell
  std::int64_t tp_size = 1;
  std::int64_t pp_size = 1;
  std::vector<Step> steps;  // "iterations" in files
  Facts facts;
};

struct WorkloadOptions {
  std::int64_t tp_size = 1;
  std::int64_t pp_size = 1;
  // `automatic` is left open in the workload and resolved per GPU; with published_rules it is fa2.
  AttentionKernel prefill_kernel = AttentionKernel::automatic;
  AttentionKernel decode_kernel = AttentionKernel::automatic;
  // The published files: lm_head not sharded, all KV heads on each rank when tp exceeds them, the
  // first request's output length for all, no request leaves the batch.
  bool published_rules = false;
  // Absent: as the model has them. 4 reproduces four published Qwen3 files.
  std::optional<std::int64_t> rmsnorm_per_layer = std::nullopt;
};

// The families and collectives that the steps of a workload call, each once, in the order of
// operator_families().
std::vector<std::string> families_of(const Workload& workload);
bool communicates(const Workload& workload);

// The operators of every iteration: one prefill of all prompts, then one decode step per further
// output token; a request leaves when it has all its tokens. Throws DataError when a dimension
// cannot be divided over the ranks, or when the workload has more than kMaxIterations iterations or
// kMaxListedLengths request lengths (the file lists each length of each iteration).
inline constexpr std::int64_t kMaxIterations = 1 << 18;
inline constexpr std::int64_t kMaxListedLengths = 1 << 24;
Workload generate_workload(const ModelConfig& model, const Trace& trace,
                           const WorkloadOptions& options);

// The published file format (workload/README.md); ours adds "config", "trace", "tied_embeddings"
// and "notes" at the end unless `published_rules`.
std::string workload_json(const Workload& workload, bool published_rules);
// "<config stem>_<trace stem>_<fa2|fa3|auto>_tp<tp>_pp<pp>.json", after the prefill kernel.
std::string workload_file_name(const ModelConfig& model, const Trace& trace,
                               const WorkloadOptions& options);

// Reads a file of either format; the model's stem, the trace and notes stay empty where the file
// does not tell them. Checks everything: first of all unknown operators and collectives (all are
// named), then phases, empty iterations, impossible sizes, names that occur twice.
Workload read_workload(const std::filesystem::path& path);

}  // namespace pw
