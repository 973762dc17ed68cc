#pragma once

#include "model_json.h"
#include "pw/model_config.h"

namespace pw {

// Fills in the dimensions of `config`, whatever the family calls them; what was not read under
// Hugging Face's usual names is added to its facts. KV heads may differ from layer to layer. Throws
// DataError naming the field for another value that is missing, impossible or not the same in all
// layers.
void read_dimensions(const ModelJson& model, ModelConfig& config);

}  // namespace pw
