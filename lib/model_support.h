#pragma once

#include <string>
#include <vector>

#include "model_json.h"
#include "pw/fact.h"

namespace pw {

// Throws DataError naming field and architecture for what cannot be summed as a dense decoder with
// gated MLP: mixtures of experts, latent attention, state-space and hybrid layers, layers that
// differ from each other, encoder-decoders, ungated MLPs. All reasons are named.
void refuse_unsupported_model(const ModelJson& model);

// What a result must tell about assumptions: unlisted architecture, activation, embeddings.
Facts model_facts(const ModelJson& model);

}  // namespace pw
