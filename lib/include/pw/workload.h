#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pw/attention.h"
#include "pw/gemm.h"
#include "pw/model_config.h"
#include "pw/operators.h"
#include "pw/rmsnorm.h"
#include "pw/silu_mul.h"
#include "pw/trace.h"

namespace pw {

enum class Phase { prefill, decode };
std::string_view to_string(Phase phase);

struct GemmEntry {
  std::string name;  // "qkv_proj"
  std::string type;  // "ColumnParallelLinear"
  GemmConfig config;
  std::int64_t count = 0;  // calls per iteration
  bool fp8 = false;        // both operands in 8 bit, else in 16
};
struct AttentionEntry {
  AttentionConfig config;
  std::int64_t count = 0;
};
struct RmsNormEntry {
  RmsNormConfig config;
  std::int64_t count = 0;
};
struct SiluMulEntry {
  SiluMulConfig config;
  std::int64_t count = 0;
};
struct CommunicationEntry {
  std::string name;  // "all_reduce", "send_recv"
  std::string type;  // "collective", "p2p"
  std::int64_t volume_bytes = 0;
  std::int64_t count = 0;
};

// The collective that an entry of this name and type calls, "all_reduce" or "send_recv"; empty for
// an unknown one. Ignores case: a name with "all_reduce" in it; one with "send" or "recv", or type
// "p2p".
std::string_view collective_of(std::string_view name, std::string_view type);

// The problem of an entry, of the family that its operands ask for.
OperatorConfig operator_of(const GemmEntry& entry);

// AttentionConfig::kv_copies in a model: the weights of all layers have driven a decode step's
// context from L2, a prefill has just written its own.
double kv_copies(Phase phase);

// One forward pass of the whole model (all pipeline stages, one tensor-parallel rank).
struct Iteration {
  std::int64_t number = 0;  // from 1
  Phase phase = Phase::prefill;
  std::vector<std::int64_t> q_lengths;
  std::vector<std::int64_t> kv_lengths;
  std::vector<GemmEntry> gemms;
  std::vector<AttentionEntry> attention;  // at most one
  std::vector<RmsNormEntry> rmsnorm;      // at most one
  std::vector<SiluMulEntry> silu_mul;     // at most one
  std::vector<CommunicationEntry> communication;
};

// Tokens that go through the iteration: the sum of q_lengths.
std::int64_t num_tokens(const Iteration& iteration);

struct Workload {
  ModelConfig model;  // of a file: its model and model_params
  std::string stem;   // file stem, "Qwen2.5-14B_arxiv_8_fa2_tp1_pp1"
  std::string trace;  // trace stem, empty when the file does not tell
  std::int64_t tp_size = 1;
  std::int64_t pp_size = 1;
  std::vector<Iteration> iterations;
  std::vector<std::string> notes;
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
  std::int64_t rmsnorm_per_layer = 2;  // 4 reproduces four published Qwen3 files
};

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
