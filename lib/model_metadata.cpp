#include "model_metadata.h"

#include <optional>

namespace pw {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> metadata_beside(const fs::path& module) {
  fs::path same_stem = module;
  same_stem.replace_extension(".json");
  for (const fs::path& path : {same_stem, module.parent_path() / "metadata.json"}) {
    if (fs::is_regular_file(path)) return path;
  }
  return std::nullopt;
}

std::vector<std::string> read_foreign_features(const fs::path& path,
                                               const std::string& operator_name) {
  constexpr const char* kNested = "model_info";
  const Json json = read_json(path);
  const JsonFields root(json, path.string());
  if (!root.has(kNested)) return read_metadata_features(root, operator_name);
  return read_metadata_features({root.object(kNested), root.where(kNested)}, operator_name);
}

}  // namespace

std::vector<std::string> read_metadata_features(const JsonFields& model,
                                                const std::string& operator_name) {
  ModelRecord record;
  record.operator_name = operator_name;
  for (const Json& name : model.array("features")) {
    if (!name.is_string()) {
      throw DataError(model.where("features") + ": found " + name.dump() +
                      ", expected the names of features");
    }
    record.features.push_back(name);
  }
  const std::int64_t count = integer_at_least(model, "num_features", 1);
  if (count != static_cast<std::int64_t>(record.features.size())) {
    throw DataError(model.where("num_features") + ": found " + std::to_string(count) +
                    ", but 'features' lists " + std::to_string(record.features.size()));
  }
  if (const std::string found = model.text("operator_type"); found != operator_name) {
    throw DataError(model.where("operator_type") + ": found '" + found +
                    "', expected the operator '" + operator_name + "' that was asked for");
  }
  feature_columns(record, model.where("features"));
  return record.features;
}

ModelRecord foreign_record(const fs::path& module, const std::string& model_name) {
  ModelRecord record;
  record.operator_name = model_name;
  for (const char* layout : {"ragged", "paged"}) {
    if (model_name == "attn_" + std::string(layout)) {
      record.operator_name = AttentionConfig::kName;
      record.attention_layout = layout;
    }
  }
  const OperatorFamily& family = operator_family(record.operator_name);
  const std::optional<fs::path> metadata = metadata_beside(module);
  record.features = metadata ? read_foreign_features(*metadata, record.operator_name)
                             : feature_names(family, record.kind);
  record.training = {{"foreign_module", module.filename().string()}};
  return record;
}

}  // namespace pw
