#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pw/measured_runs.h"
#include "pw/model_config.h"
#include "pw/profiling.h"
#include "pw/trace.h"

namespace pw {

// Device memory of a model with random weights and a batch of requests.
struct TransformerBytes {
  std::int64_t weights = 0, kv_cache = 0, activations = 0;  // activations: an estimate

  std::int64_t total() const { return weights + kv_cache + activations; }
};
TransformerBytes transformer_bytes(const ModelConfig& model, const std::vector<Request>& requests,
                                   const ProfiledDevice& device);

// A dense decoder-only transformer (GQA, RMSNorm, rotary embedding, gated MLP) with random weights:
// the kernels that are profiled, in eager mode, with a contiguous KV cache.
class Transformer {
 public:
  // Slots for all requests at their full length. Throws DataError with the bytes needed if they do
  // not fit.
  static std::unique_ptr<Transformer> make(const ModelConfig& model,
                                           const std::vector<Request>& requests,
                                           ProfiledDevice& device);
  virtual ~Transformer() = default;

  // New tokens of the first requests, in order, each behind those it has seen since reset().
  // Returns the most likely next token of each, and waits for it.
  using Tokens = std::vector<std::vector<std::int64_t>>;
  virtual std::vector<std::int64_t> forward(const Tokens& tokens) = 0;
  // The logits of the last forward(), requests x vocabulary.
  virtual std::vector<float> logits() const = 0;
  virtual void reset() = 0;
};

// Runs a batch once: prefill of all prompts (random tokens), then one step per further token; a
// request leaves when it has its tokens.
EndToEndRun run_end_to_end(Transformer& model, const ModelConfig& config,
                           const std::vector<Request>& requests);

// The batch in the order that run_end_to_end needs: those that leave last come first.
std::vector<Request> in_leaving_order(std::vector<Request> requests);

}  // namespace pw
