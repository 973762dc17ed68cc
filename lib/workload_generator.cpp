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

std::string stage_sentence(const std::vector<std::int64_t>& stages) {
  std::vector<std::string> sizes;
  for (const std::int64_t layers : stages) {
    sizes.push_back(std::to_string(layers));
  }
  return "pipeline stages of " + comma_list(sizes) +
         " layers; each iteration lists all stages, which run one after the other";
}

// "line 3: 5100, line 7: 4300": what these requests need, as far as a sentence should go.
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
void tell_long_contexts(const ModelConfig& model, const Trace& trace,
                        const WorkloadOptions& options, Facts& facts) {
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
      facts.add({FactKind::context_beyond_model,
                 some(requests) + " exceed the model's max_position_embeddings, " +
                     std::to_string(*model.max_context) + " tokens, and are timed as they are (" +
                     listed_contexts(trace, requests, contexts) + ")",
                 {{"requests", static_cast<std::int64_t>(requests.size())},
                  {"max_context", *model.max_context}}});
    }
  }
  for (const LayerGroup& group : model.layers) {
    if (!group.attention.window) continue;
    const std::int64_t window = *group.attention.window;
    if (const auto requests = beyond(window); !requests.empty()) {
      facts.add({FactKind::sliding_window_ignored,
                 some(requests) + " exceed the sliding_window of " + std::to_string(window) +
                     " tokens in " + std::to_string(group.count) + " of " +
                     std::to_string(layer_count(model)) +
                     " layers, which is not modelled: attention is computed over the full "
                     "context, an over-estimate",
                 {{"requests", static_cast<std::int64_t>(requests.size())},
                  {"window", window},
                  {"layers", group.count}}});
    }
  }
}

}  // namespace

Facts workload_facts(const ModelConfig& model, const Trace& trace,
                     const std::vector<std::int64_t>& stages, const WorkloadOptions& options) {
  Facts all = model.facts;
  all.add(trace.facts);
  tell_long_contexts(model, trace, options, all);
  const auto by_output = [](const Request& a, const Request& b) {
    return a.output_tokens < b.output_tokens;
  };
  const auto [shortest, longest] =
      std::minmax_element(trace.requests.begin(), trace.requests.end(), by_output);
  if (shortest->output_tokens != longest->output_tokens) {
    all.add(
        {FactKind::output_lengths_differ,
         "output lengths differ, " + std::to_string(shortest->output_tokens) + " to " +
             std::to_string(longest->output_tokens) + " tokens: " +
             (options.published_rules
                  ? "the first request's " + std::to_string(trace.requests.front().output_tokens) +
                        " is used for all (published rules)"
                  : "each request leaves the batch when it has all its tokens"),
         {{"shortest", shortest->output_tokens}, {"longest", longest->output_tokens}}});
  }
  if (stages.size() > 1) {
    all.add({FactKind::pipeline_stages, stage_sentence(stages), {{"layers", stages}}});
  }
  return all;
}

WorkloadSteps::WorkloadSteps(const ModelConfig& model, const Trace& trace,
                             const WorkloadOptions& options)
    : trace_(trace), maker_(model, options) {
  if (trace.requests.empty()) {
    throw DataError("trace " + trace.stem + " has no requests, expected at least one");
  }
  stages_ = split_into_stages(layer_count(model), options.pp_size);
  outputs_ = output_lengths(trace, options.published_rules);
  check_size(trace, outputs_);
  running_.resize(trace.requests.size());
  std::iota(running_.begin(), running_.end(), std::size_t{0});
}

// Every prompt, then one step per further token for the requests that still want one.
std::optional<Step> WorkloadSteps::next() {
  if (running_.empty()) {
    return std::nullopt;
  }
  const bool prefill = number_ == 0;
  Batch batch;
  batch.q_lengths.reserve(running_.size());
  batch.kv_lengths.reserve(running_.size());
  for (const std::size_t i : running_) {
    const std::int64_t prompt = trace_.requests[i].input_tokens;
    batch.q_lengths.push_back(prefill ? prompt : 1);
    batch.kv_lengths.push_back(prompt + number_);
  }
  Step step = prefill ? maker_.make(std::move(batch), {}, 1)
                      : maker_.make({}, std::move(batch), number_ + 1);
  ++number_;
  running_.erase(std::remove_if(running_.begin(), running_.end(),
                                [&](std::size_t i) { return outputs_[i] <= number_; }),
                 running_.end());
  return step;
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
    workload.facts = workload_facts(model, trace, steps.stages(), options);
    while (std::optional<Step> step = steps.next()) {
      workload.steps.push_back(std::move(*step));
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
