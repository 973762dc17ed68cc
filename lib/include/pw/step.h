#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pw/operators.h"

namespace pw {

enum class Phase { prefill, decode };
std::string_view to_string(Phase phase);

// The groups of operators in the order in which they are summed and reported.
// `engine`: what the serving engine adds to the kernels of the model.
enum class OperatorGroup { gemm, attention, rmsnorm, siluandmul, communication, engine };
std::string_view to_string(OperatorGroup group);

// A kernel of the model that a step calls.
struct Op {
  OperatorGroup group = OperatorGroup::gemm;
  std::string name;  // "qkv_proj"; of the groups without named members the group's
  std::string type;  // of a GEMM in workload files: "ColumnParallelLinear"
  OperatorConfig problem;
  std::int64_t calls = 0;
};

// Bytes that go from GPU to GPU.
struct Transfer {
  std::string name;  // "all_reduce", "send_recv"
  std::string type;  // "collective", "p2p"
  std::int64_t volume_bytes = 0;
  std::int64_t calls = 0;
};

// The collective that a transfer of this name and type calls, "all_reduce" or "send_recv"; empty
// for an unknown one. Ignores case: a name with "all_reduce" in it; one with "send" or "recv", or
// type "p2p".
std::string_view collective_of(std::string_view name, std::string_view type);

// The requests of a step, in the same order: new tokens of each, and its whole context with them.
// A decode has one new token; a chunk of a prompt has several, and a longer context from its second
// chunk on.
struct Batch {
  std::vector<std::int64_t> q_lengths;
  std::vector<std::int64_t> kv_lengths;

  std::int64_t requests() const { return static_cast<std::int64_t>(q_lengths.size()); }
};
// The sum of q_lengths. Throws std::overflow_error.
std::int64_t num_tokens(const Batch& batch);

// All of a step but attention. It depends on the numbers of tokens and requests alone, so most
// decode steps share one.
struct StepBody {
  std::vector<Op> before_attention;  // in the order of OperatorGroup
  std::vector<Op> after_attention;
  std::vector<Transfer> transfers;
};

// One forward pass of the whole model: all pipeline stages, one tensor-parallel rank.
struct Step {
  std::int64_t number = 0;  // from 1
  Phase phase = Phase::prefill;
  Batch batch;
  // One per kind of layer; two of one name, prompts beside decodes, in a step that mixes them.
  std::vector<Op> attention;
  std::shared_ptr<const StepBody> body;  // never null in a workload
};

// Every operator of the step in the order of its sum.
template <class Use>
void for_each_op(const Step& step, const Use& use) {
  for (const Op& op : step.body->before_attention) use(op);
  for (const Op& op : step.attention) use(op);
  for (const Op& op : step.body->after_attention) use(op);
}

// AttentionConfig::kv_copies in a model: the weights of all layers have driven a decode step's
// context from L2, a prefill has just written its own.
double kv_copies(Phase phase);

}  // namespace pw
