#pragma once

#include "io/json_file.h"
#include "pw/fact.h"

namespace pw {

// Version of the JSON that our programs write, as their member schema_version: 1 has facts in place
// of notes. Readers take files of older ones.
inline constexpr int kSchemaVersion = 1;

// [{"kind": "unseen_gpu", "sentence": "...", "models": ["gemm"], "gpu": "NVIDIA H20"}, ...]
Json facts_json(const Facts& facts);

// What facts_json wrote. `fields` holds it as its member "facts"; absent: no facts. Data that are
// neither numbers nor texts nor lists of these are left out.
Facts read_facts(const JsonFields& fields);

}  // namespace pw
