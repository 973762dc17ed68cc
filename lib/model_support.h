#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/json_file.h"

namespace pw {

// A model's config.json: the record of the decoder (text_config where there is one) and the whole
// file, which of a multimodal model carries the architecture and the quantisation.
struct ModelJson {
  std::string file;  // for messages
  const Json& root;
  const Json& decoder;
  std::string decoder_where;  // "config.json" or "config.json: text_config"

  // The value under `key`, of the decoder or else of the whole file; nullptr when absent or null.
  const Json* find(std::string_view key) const;
  // architectures[0], of the decoder or else of the whole file; empty when absent.
  std::string architecture() const;
  // "architecture DemoForCausalLM" for messages.
  std::string described() const;
};

// Throws DataError naming field and architecture for what cannot be summed as a dense decoder with
// gated MLP: mixtures of experts, latent attention, state-space and hybrid layers, layers that
// differ from each other, encoder-decoders, ungated MLPs, quantised weights.
void refuse_unsupported_model(const ModelJson& model);

// What a result must tell about assumptions: unlisted architecture, activation, dtype, window.
// Throws DataError for weights other than 16 bit.
std::vector<std::string> model_notes(const ModelJson& model);

}  // namespace pw
