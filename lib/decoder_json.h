#pragma once

#include <string_view>

#include "io/json_file.h"
#include "pw/decoder.h"

namespace pw {

// A decoder with layers of one shape, RMSNorms, a gated MLP and rotary positions, without biases:
// what model_params of a workload file tell completely.
bool is_plain(const Decoder& decoder);
// That decoder.
Decoder plain_decoder(std::int64_t hidden_size, std::int64_t vocab_size, const LayerGroup& layers);

// All of a decoder but hidden_size, vocab_size, tied_embeddings and fp8.
Json decoder_json(const Decoder& decoder);
// What decoder_json wrote, into a decoder that has the rest. Throws DataError for impossible
// numbers.
void read_decoder(const JsonFields& fields, Decoder& decoder);

}  // namespace pw
