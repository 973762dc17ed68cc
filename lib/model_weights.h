#pragma once

#include <string>
#include <vector>

#include "model_json.h"
#include "pw/fact.h"

namespace pw {

// How a model's weights are stored.
struct WeightFormat {
  bool fp8 = false;  // 8-bit floating point in the linear layers of all decoder blocks, else 16 bit
  Facts facts;       // what was assumed or ignored
};

// From dtype or torch_dtype and quantization_config. Throws DataError for other weights.
WeightFormat weight_format(const ModelJson& model);

}  // namespace pw
