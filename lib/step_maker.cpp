#include "pw/step_maker.h"

#include <algorithm>
#include <utility>

#include "parallel_split.h"
#include "pw/int_math.h"
#include "workload_steps.h"

namespace pw {

AttentionKernel effective_kernel(AttentionKernel kernel, const WorkloadOptions& options) {
  const bool open = kernel == AttentionKernel::automatic;
  return open && options.published_rules ? AttentionKernel::fa2 : kernel;
}

namespace {

// bf16 hidden states of one token, per unit of hidden_size: an all-reduce moves them once, a stage
// hands over the hidden state and the residual.
constexpr std::int64_t kAllReduceBytes = 2;
constexpr std::int64_t kSendRecvBytes = 4;

Op gemm(bool fp8, const char* name, const char* type, std::int64_t m, std::int64_t n,
        std::int64_t k, std::int64_t calls) {
  return {OperatorGroup::gemm, name, type,
          fp8 ? OperatorConfig(Fp8GemmConfig{m, n, k}) : OperatorConfig(GemmConfig{m, n, k}),
          calls};
}

void add_layer_gemms(const ModelConfig& model, const LayerGroup& group, const RankShape& rank,
                     std::int64_t tokens, std::vector<Op>& ops) {
  const std::int64_t h = model.hidden_size;
  const auto add = [&](const char* name, const char* type, std::int64_t n, std::int64_t k) {
    add_named(gemm(model.fp8, name, type, tokens, n, k, group.count), ops);
  };
  add("qkv_proj", "ColumnParallelLinear", rank.qkv_width, h);
  add("o_proj", "RowParallelLinear", h, checked_mul(rank.query_heads, group.attention.head_dim));
  if (group.mlp.gated) {
    add("gate_up_proj", "MergedColumnParallelLinear", 2 * rank.mlp_width, h);
  } else {
    add("up_proj", "ColumnParallelLinear", rank.mlp_width, h);
  }
  add("down_proj", "RowParallelLinear", h, rank.mlp_width);
}

// Attention over the prompts, or over the contexts of decodes.
Op attention(const LayerGroup& group, const RankShape& rank, const Batch& batch, Phase phase,
             const WorkloadOptions& options) {
  const bool prefill = phase == Phase::prefill;
  AttentionConfig config;
  config.kernel =
      effective_kernel(prefill ? options.prefill_kernel : options.decode_kernel, options);
  config.layout = prefill ? KvLayout::ragged : KvLayout::paged;
  config.q_lengths = batch.q_lengths;
  config.kv_lengths = batch.kv_lengths;
  config.query_heads = rank.query_heads;
  config.kv_heads = rank.kv_heads;
  config.head_dim = group.attention.head_dim;
  config.kv_copies = kv_copies(phase);
  return {OperatorGroup::attention, "attention", "", std::move(config), group.count};
}

// Each block ends with one all-reduce; attention and MLP side by side are one block.
std::vector<Transfer> transfers(const ModelConfig& model, std::int64_t tokens,
                                const WorkloadOptions& options) {
  std::vector<Transfer> all;
  if (options.tp_size > 1) {
    std::int64_t blocks = 0;
    for (const LayerGroup& group : model.layers) {
      blocks = checked_add(blocks, checked_mul(group.parallel ? 1 : 2, group.count));
    }
    all.push_back({"all_reduce", "collective",
                   checked_mul(kAllReduceBytes, tokens, model.hidden_size), blocks});
  }
  if (options.pp_size > 1) {
    all.push_back({"send_recv", "p2p", checked_mul(kSendRecvBytes, tokens, model.hidden_size),
                   options.pp_size - 1});
  }
  return all;
}

std::int64_t norm_calls(const ModelConfig& model, const WorkloadOptions& options) {
  std::int64_t calls = (model.final_norm ? 1 : 0) + (model.embedding_norm ? 1 : 0);
  for (const LayerGroup& group : model.layers) {
    const std::int64_t per_layer = options.rmsnorm_per_layer.value_or(group.norms);
    calls = checked_add(calls, checked_mul(per_layer, group.count));
  }
  return calls;
}

StepBody body_of(std::int64_t tokens, std::int64_t requests, const ModelConfig& model,
                 const std::vector<RankShape>& ranks, const WorkloadOptions& options) {
  StepBody body;
  body.after_attention.push_back({OperatorGroup::rmsnorm, "rmsnorm", "",
                                  RmsNormConfig{tokens, model.hidden_size},
                                  norm_calls(model, options)});
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const LayerGroup& group = model.layers[i];
    add_layer_gemms(model, group, ranks[i], tokens, body.before_attention);
    const bool gated = group.mlp.gated;
    add_named({OperatorGroup::siluandmul, "siluandmul", "",
               SiluMulConfig{tokens, (gated ? 2 : 1) * ranks[i].mlp_width, gated}, group.count},
              body.after_attention);
  }
  // Only the last token of each request needs logits.
  const std::int64_t vocabulary = options.published_rules
                                      ? model.vocab_size
                                      : vocab_per_rank(model.vocab_size, options.tp_size);
  body.before_attention.push_back(
      gemm(false, "lm_head", "Linear", requests, vocabulary, model.hidden_size, 1));
  body.transfers = transfers(model, tokens, options);
  return body;
}

// Attention of one part of a step. Layers of one shape share an operator.
std::vector<Op> attention_of_all(const ModelConfig& model, const std::vector<RankShape>& ranks,
                                 const Batch& batch, Phase phase, const WorkloadOptions& options) {
  std::vector<Op> ops;
  if (batch.q_lengths.empty()) return ops;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    add_named(attention(model.layers[i], ranks[i], batch, phase, options), ops);
  }
  return ops;
}

}  // namespace

StepMaker::StepMaker(const ModelConfig& model, const WorkloadOptions& options)
    : model_(model),
      options_(options),
      ranks_(split_over_ranks(model, options.tp_size, options.published_rules)) {}

StepMaker::~StepMaker() = default;

Step StepMaker::make(Batch prompts, Batch decodes, std::int64_t number) {
  Step step;
  step.number = number;
  step.phase = prompts.q_lengths.empty() ? Phase::decode : Phase::prefill;
  step.attention = attention_of_all(model_, ranks_, prompts, Phase::prefill, options_);
  for (Op& op : attention_of_all(model_, ranks_, decodes, Phase::decode, options_)) {
    step.attention.push_back(std::move(op));
  }
  step.batch = std::move(prompts);
  const auto append = [](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(step.batch.q_lengths, decodes.q_lengths);
  append(step.batch.kv_lengths, decodes.kv_lengths);
  const std::int64_t tokens = num_tokens(step.batch), requests = step.batch.requests();
  if (body_ == nullptr || tokens != tokens_ || requests != requests_) {
    body_ = std::make_shared<StepBody>(body_of(tokens, requests, model_, ranks_, options_));
    tokens_ = tokens;
    requests_ = requests;
  }
  step.body = body_;
  return step;
}

}  // namespace pw
