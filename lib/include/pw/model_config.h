#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pw/decoder.h"
#include "pw/fact.h"

namespace pw {

// A dense decoder-only transformer from a Hugging Face config.json (keys and their other spellings
// in config/README.md; a nested text_config is used).
struct ModelConfig : Decoder {
  std::string stem;          // the name in results: the file's stem, "Qwen2.5-14B"; of a
                             // config.json that of its folder
  std::string architecture;  // _name_or_path, else architectures[0], else "unknown"
  // Longest context that the model was made for, in tokens; absent when the file does not tell.
  std::optional<std::int64_t> max_context = std::nullopt;
  Facts facts;  // what a result must tell: "no dtype given: bfloat16 assumed"
};

// Whether models of this architecture (or name) normalise queries and keys of each head: Qwen3,
// Gemma 3 and OLMo 2.
bool has_qk_norm(std::string_view architecture);

// Throws DataError naming the field for a missing or impossible value, and the architecture for a
// model that cannot be summed (mixture of experts, latent attention, state-space or hybrid layers,
// encoder-decoder, weights other than 16 bit and fp8).
ModelConfig read_model_config(const std::filesystem::path& path);

// `name` is a path to a JSON file, or a stem in the folder of configs ("Qwen2.5-14B"). Throws
// DataError that lists the known stems.
std::filesystem::path find_model_config(const std::string& name,
                                        const std::filesystem::path& config_folder);

}  // namespace pw
