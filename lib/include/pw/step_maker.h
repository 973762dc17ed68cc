#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pw/workload.h"

namespace pw {

struct RankShape;

// Steps of a model, one after the other: of prompts, of decodes, or of both in one pass as engines
// with chunked prefill have them.
class StepMaker {
 public:
  // The model must outlive it. Throws DataError when tp_size cannot divide the model.
  StepMaker(const ModelConfig& model, const WorkloadOptions& options);
  ~StepMaker();

  // `prompts`: whole ones or chunks, each with the context that it ends at. `decodes`: one new
  // token each. At least one request in all; lm_head sees the last token of each. Neighbouring
  // steps of as many tokens and requests share their body. Throws std::overflow_error.
  Step make(Batch prompts, Batch decodes, std::int64_t number);

 private:
  const ModelConfig& model_;
  WorkloadOptions options_;
  std::vector<RankShape> ranks_;            // by group of layers
  std::int64_t tokens_ = 0, requests_ = 0;  // of body_
  std::shared_ptr<const StepBody> body_;
};

}  // namespace pw
