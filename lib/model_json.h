#pragma once

#include <string>
#include <string_view>

#include "io/json_file.h"

namespace pw {

// A model's config.json: the record of the decoder (text_config or the like where there is one) and
// the whole file, which of a multimodal model carries the architecture and the quantisation.
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
  // Whether the decoder is one part among others, in a record of its own or beside theirs.
  bool multimodal() const;
};

// Follows text_config, llm_config and their like to the innermost record. Throws DataError when the
// file or a text_config is no object.
ModelJson model_json(const Json& root, const std::string& file);

// The member under `key` of an object; nullptr when absent or null.
const Json* find_set(const Json& object, std::string_view key);
// Neither null, false, 0 nor empty.
bool is_set(const Json& value);
std::string string_or_empty(const Json* value);
// A scalar as it stands in the file, a container by its kind: messages stay one line.
std::string shown(const Json& value);

}  // namespace pw
