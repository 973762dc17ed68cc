#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/json_file.h"
#include "pw/model_record.h"

namespace pw {

// The features that a metadata.json lists for a model, in the order of its inputs. `model` is the
// object with operator_type, features and num_features. Throws DataError for an absent key, a
// number that is not that of the features, another operator, and a feature that models of the
// operator do not have.
std::vector<std::string> read_metadata_features(const JsonFields& model,
                                                const std::string& operator_name);

// The record of a module of somebody else, for the model of this name ("gemm", "attn_paged"): its
// features are those of the JSON file beside it, <stem>.json or metadata.json, flat or below
// model_info, else all of the operator's.
ModelRecord foreign_record(const std::filesystem::path& module, const std::string& model_name);

}  // namespace pw
