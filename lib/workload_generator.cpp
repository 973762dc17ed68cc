#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "comma_list.h"
#include "parallel_split.h"
#include "pw/fields.h"
#include "pw/int_math.h"
#include "pw/workload.h"
#include "workload_steps.h"

namespace pw {
namespace {

// bf16 hidden states of one token, per unit of hidden_size: an all-reduce moves them once, a stage
// hands over the hidden state and the residual.
constexpr std::int64_t kAllReduceBytes = 2;
constexpr std::int64_t kSendRecvBytes = 4;

AttentionKernel effective_kernel(AttentionKernel kernel, const WorkloadOptions& options) {
  const bool open = kernel == AttentionKernel::automatic;
  return open && options.published_rules ? AttentionKernel::fa2 : kernel;
}

// Tokens that each request generates.
std::vector<std::int64_t> output_lengths(const Trace& trace, bool published_rules) {
  std::vector<std::int64_t> lengths;
  for (const Request& request : trace.requests) {
    lengths.push_back(published_rules ? trace.requests.front().output_tokens
                                      : request.output_tokens);
  }
  return lengths;
}

void check_size(const Trace& trace, const std::vector<std::int64_t>& outputs) {
  const std::int64_t iterations = *std::max_element(outputs.begin(), outputs.end());
  const std::int64_t lengths = std::accumulate(outputs.begin(), outputs.end(), std::int64_t{0});
  if (iterations > kMaxIterations || lengths > kMaxListedLengths) {
    throw DataError("trace " + trace.stem + " needs " + std::to_string(iterations) +
                    " iterations with " + std::to_string(lengths) +
                    " request lengths, expected at most " + std::to_string(kMaxIterations) +
                    " and " + std::to_string(kMaxListedLengths) +
                    "; choose fewer requests or shorter outputs");
  }
}

std::vector<GemmEntry> gemms(const ModelConfig& model, const RankShape& rank,
                             const Iteration& iteration, std::int64_t tokens) {
  const std::int64_t h = model.hidden_size;
  const std::int64_t layers = model.num_hidden_layers;
  const auto requests = static_cast<std::int64_t>(iteration.q_lengths.size());
  const std::int64_t attention_width = checked_mul(rank.query_heads, model.head_dim);
  const std::int64_t gate_up_width = 2 * rank.intermediate_size;
  return {
      {"qkv_proj", "ColumnParallelLinear", {tokens, rank.qkv_width, h, {}}, layers, model.fp8},
      {"o_proj", "RowParallelLinear", {tokens, h, attention_width, {}}, layers, model.fp8},
      {"gate_up_proj",
       "MergedColumnParallelLinear",
       {tokens, gate_up_width, h, {}},
       layers,
       model.fp8},
      {"down_proj",
       "RowParallelLinear",
       {tokens, h, rank.intermediate_size, {}},
       layers,
       model.fp8},
      // Only the last token of each request needs logits.
      {"lm_head", "Linear", {requests, rank.vocab_size, h, {}}, 1},
  };
}

AttentionConfig attention(const ModelConfig& model, const RankShape& rank,
                          const Iteration& iteration, const WorkloadOptions& options) {
  const bool prefill = iteration.phase == Phase::prefill;
  AttentionConfig config;
  config.kernel =
      effective_kernel(prefill ? options.prefill_kernel : options.decode_kernel, options);
  config.layout = prefill ? KvLayout::ragged : KvLayout::paged;
  config.q_lengths = iteration.q_lengths;
  config.kv_lengths = iteration.kv_lengths;
  config.query_heads = rank.query_heads;
  config.kv_heads = rank.kv_heads;
  config.head_dim = model.head_dim;
  config.kv_copies = kv_copies(iteration.phase);
  return config;
}

std::vector<CommunicationEntry> communication(const ModelConfig& model, std::int64_t tokens,
                                              const WorkloadOptions& options) {
  std::vector<CommunicationEntry> entries;
  if (options.tp_size > 1) {
    entries.push_back({"all_reduce", "collective",
                       checked_mul(kAllReduceBytes, tokens, model.hidden_size),
                       2 * model.num_hidden_layers});
  }
  if (options.pp_size > 1) {
    entries.push_back({"send_recv", "p2p", checked_mul(kSendRecvBytes, tokens, model.hidden_size),
                       options.pp_size - 1});
  }
  return entries;
}

// Fills in the operators beside attention of an iteration that has its lengths.
void add_operators(Iteration& iteration, const ModelConfig& model, const RankShape& rank,
                   const WorkloadOptions& options) {
  const std::int64_t layers = model.num_hidden_layers;
  const std::int64_t tokens = num_tokens(iteration);
  iteration.gemms = gemms(model, rank, iteration, tokens);
  // One more for the norm before lm_head.
  const std::int64_t norms = checked_add(checked_mul(options.rmsnorm_per_layer, layers), 1);
  iteration.rmsnorm = {{{tokens, model.hidden_size}, norms}};
  iteration.silu_mul = {{{tokens, 2 * rank.intermediate_size}, layers}};
  iteration.communication = communication(model, tokens, options);
}

std::string stage_note(const std::vector<std::int64_t>& stages) {
  std::vector<std::string> sizes;
  for (const std::int64_t layers : stages) {
    sizes.push_back(std::to_string(layers));
  }
  return "pipeline stages of " + comma_list(sizes) +
         " layers; each iteration lists all stages, which run one after the other";
}

// "line 3: 5100, line 7: 4300": what these requests need, as far as a note should go.
std::string listed_contexts(const Trace& trace, const std::vector<std::size_t>& requests,
                            const std::vector<std::int64_t>& contexts) {
  constexpr std::size_t kMaxListed = 10;
  std::vector<std::string> first;
  for (const std::size_t i : requests) {
    if (first.size() == kMaxListed) break;
    const std::size_t line = trace.requests[i].line;
    first.push_back(
        (line > 0 ? "line " + std::to_string(line) : "request " + std::to_string(i + 1)) + ": " +
        std::to_string(contexts[i]));
  }
  const std::size_t rest = requests.size() - first.size();
  return comma_list(first) + (rest > 0 ? " and " + std::to_string(rest) + " more" : "");
}

// Requests that go beyond what the model was made for, or beyond what attention models.
void note_long_contexts(const ModelConfig& model, const Trace& trace,
                        const WorkloadOptions& options, std::vector<std::string>& all) {
  std::vector<std::int64_t> contexts = output_lengths(trace, options.published_rules);
  for (std::size_t i = 0; i < contexts.size(); ++i) contexts[i] += trace.requests[i].input_tokens;
  const auto beyond = [&](std::int64_t limit) {
    std::vector<std::size_t> requests;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      if (contexts[i] > limit) requests.push_back(i);
    }
    return requests;
  };
  const auto some = [&](const std::vector<std::size_t>& requests) {
    return std::to_string(requests.size()) + " of " + std::to_string(contexts.size()) + " requests";
  };
  if (model.max_context) {
    if (const auto requests = beyond(*model.max_context); !requests.empty()) {
      all.push_back(some(requests) + " exceed the model's max_position_embeddings, " +
                    std::to_string(*model.max_context) + " tokens, and are timed as they are (" +
                    listed_contexts(trace, requests, contexts) + ")");
    }
  }
  if (model.sliding_window) {
    if (const auto requests = beyond(*model.sliding_window); !requests.empty()) {
      all.push_back(some(requests) + " exceed the sliding_window of " +
                    std::to_string(*model.sliding_window) + " tokens in " +
                    std::to_string(model.windowed_layers) + " of " +
                    std::to_string(model.num_hidden_layers) +
                    " layers, which is not modelled: attention is computed over the full context, "
                    "an over-estimate");
    }
  }
}

std::vector<std::string> notes(const ModelConfig& model, const Trace& trace,
                               const std::vector<std::int64_t>& stages,
                               const WorkloadOptions& options) {
  std::vector<std::string> all = model.notes;
  all.insert(all.end(), trace.notes.begin(), trace.notes.end());
  note_long_contexts(model, trace, options, all);
  const auto by_output = [](const Request& a, const Request& b) {
    return a.output_tokens < b.output_tokens;
  };
  const auto [shortest, longest] =
      std::minmax_element(trace.requests.begin(), trace.requests.end(), by_output);
  if (shortest->output_tokens != longest->output_tokens) {
    all.push_back("output lengths differ, " + std::to_string(shortest->output_tokens) + " to " +
                  std::to_string(longest->output_tokens) + " tokens: " +
                  (options.published_rules
                       ? "the first request's " +
                             std::to_string(trace.requests.front().output_tokens) +
                             " is used for all (published rules)"
                       : "each request leaves the batch when it has all its tokens"));
  }
  if (stages.size() > 1) {
    all.push_back(stage_note(stages));
  }
  return all;
}

}  // namespace

WorkloadSteps::WorkloadSteps(const ModelConfig& model, const Trace& trace,
                             const WorkloadOptions& options)
    : model_(model), trace_(trace), options_(options) {
  if (trace.requests.empty()) {
    throw DataError("trace " + trace.stem + " has no requests, expected at least one");
  }
  stages_ = split_into_stages(model.num_hidden_layers, options.pp_size);
  rank_ = split_over_ranks(model, options.tp_size, options.published_rules);
  outputs_ = output_lengths(trace, options.published_rules);
  check_size(trace, outputs_);
  running_.resize(trace.requests.size());
  std::iota(running_.begin(), running_.end(), std::size_t{0});
}

// Every prompt, then one step per further token for the requests that still want one.
std::optional<Iteration> WorkloadSteps::next(Repeated repeated) {
  if (running_.empty()) {
    return std::nullopt;
  }
  const bool prefill = step_ == 0;
  Iteration iteration;
  iteration.number = step_ + 1;
  iteration.phase = prefill ? Phase::prefill : Phase::decode;
  iteration.q_lengths.reserve(running_.size());
  iteration.kv_lengths.reserve(running_.size());
  for (const std::size_t i : running_) {
    const std::int64_t prompt = trace_.requests[i].input_tokens;
    iteration.q_lengths.push_back(prefill ? prompt : 1);
    iteration.kv_lengths.push_back(prompt + step_);
  }
  iteration.attention = {{attention(model_, rank_, iteration, options_), model_.num_hidden_layers}};
  if (repeated == Repeated::listed || running_.size() != last_decoding_) {
    add_operators(iteration, model_, rank_, options_);
  }
  last_decoding_ = prefill ? 0 : running_.size();
  ++step_;
  running_.erase(std::remove_if(running_.begin(), running_.end(),
                                [&](std::size_t i) { return outputs_[i] <= step_; }),
                 running_.end());
  return iteration;
}

Workload generate_workload(const ModelConfig& model, const Trace& trace,
                           const WorkloadOptions& options) {
  Workload workload;
  workload.model = model;
  workload.stem = std::filesystem::path(workload_file_name(model, trace, options)).stem().string();
  workload.trace = trace.stem;
  workload.tp_size = options.tp_size;
  workload.pp_size = options.pp_size;
  try {
    WorkloadSteps steps(model, trace, options);
    workload.notes = notes(model, trace, steps.stages(), options);
    while (std::optional<Iteration> iteration = steps.next()) {
      workload.iterations.push_back(std::move(*iteration));
    }
  } catch (const std::overflow_error&) {
    throw DataError("model " + model.stem + " with trace " + trace.stem +
                    ": a size exceeds 2^63, expected realistic dimensions and lengths");
  }
  return workload;
}

std::string workload_file_name(const ModelConfig& model, const Trace& trace,
                               const WorkloadOptions& options) {
  const std::string type =
      attention_type(effective_kernel(options.prefill_kernel, options), KvLayout::ragged);
  return model.stem + "_" + trace.stem + "_" + type.substr(0, type.find('_')) + "_tp" +
         std::to_string(options.tp_size) + "_pp" + std::to_string(options.pp_size) + ".json";
}

}  // namespace pw
