#include <torch/torch.h>

#include "io/files.h"
#include "io/json_file.h"
#include "io/sha256.h"
#include "io/state_dict.h"
#include "model/mlp.h"
#include "model/script_model.h"
#include "model_metadata.h"
#include "pw/checkpoint.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// What the original wrote beside its weights: the spec of the published training, "Output files".
struct Metadata {
  ModelRecord record;
  std::int64_t train_samples = 0;
  std::string train_path;
};

Metadata read_metadata(const fs::path& path, const std::string& operator_name) {
  const Json json = read_json(path);
  const JsonFields root(json, path.string());
  const JsonFields model(root.object("model_info"), path.string() + ": model_info");
  const JsonFields data(root.object("data_info"), path.string() + ": data_info");
  Metadata metadata;
  metadata.record.operator_name = operator_name;
  metadata.record.features = read_metadata_features(model, operator_name);
  if (model.has("quantile")) {
    metadata.record.quantiles = {model.number("quantile")};
    metadata.record.output_quantile = model.number("quantile");
  }
  metadata.record.analysis.fa2_schedule = Fa2Schedule::published;
  const JsonFields ranges(root.object("feature_ranges"), path.string() + ": feature_ranges");
  for (const std::string& feature : metadata.record.features) {
    const JsonFields range(ranges.object(feature), ranges.where(feature));
    metadata.record.feature_ranges.push_back(
        {range.number("min"), range.number("max"), range.number("mean"), range.number("std")});
  }
  const std::string distribution = "train_hardware_distribution";
  const JsonFields rows(data.object(distribution), data.where(distribution));
  for (const auto& [name, count] : data.object(distribution).items()) {
    metadata.record.hardware_rows.emplace_back(name, integer_at_least(rows, name, 1));
  }
  metadata.train_samples = integer_at_least(data, "train_samples", 1);
  metadata.train_path = data.text("train_path");
  return metadata;
}

void copy_weights(const StateDict& state, MlpImpl& mlp, const std::string& file) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : named_tensors(mlp)) {
    const auto found = state.tensors.find(name);
    if (found == state.tensors.end()) {
      throw DataError(file + ": the tensor '" + name + "' of the published network is missing");
    }
    const StateTensor& stored = found->second;
    if (tensor.sizes() != torch::IntArrayRef(stored.shape)) {
      std::ostringstream message;
      message << file << ": the tensor '" << name << "' has shape "
              << torch::IntArrayRef(stored.shape) << ", expected " << tensor.sizes();
      throw DataError(message.str());
    }
    tensor.copy_(torch::tensor(stored.values, torch::kFloat64).view(stored.shape));
  }
}

void check_width(const StateDict& state, const ModelRecord& record, const std::string& file) {
  const auto first = state.tensors.find("network.0.weight");
  if (first == state.tensors.end() || first->second.shape.size() != 2) {
    return;  // copy_weights tells what is missing
  }
  const std::int64_t width = first->second.shape[1];
  if (width != static_cast<std::int64_t>(record.features.size())) {
    throw DataError(file + ": the model expects " + std::to_string(width) + " features, " +
                    record.operator_name + " has " + std::to_string(record.features.size()) +
                    " in its metadata.json");
  }
}

ModelRecord complete_record(Metadata metadata, const StateDict& state, const fs::path& pth) {
  ModelRecord record = std::move(metadata.record);
  record.data.push_back({fs::path(metadata.train_path).filename().string(), "",
                         metadata.train_samples, "as named in the imported metadata.json"});
  record.training = {{"imported_file", pth.filename().string()},
                     {"imported_sha256", sha256_hex(read_file(pth))},
                     {"best_epoch", std::to_string(state.epoch)},
                     {"train_loss", python_repr(state.train_loss)}};
  if (state.validation_loss) {
    record.training.emplace_back("validation_loss", python_repr(*state.validation_loss));
  }
  return record;
}

}  // namespace

void import_state_dict(const fs::path& pth, const std::string& operator_name,
                       const fs::path& output) {
  operator_family(operator_name);
  const StateDict state = read_state_dict(pth);
  Metadata metadata = read_metadata(pth.parent_path() / "metadata.json", operator_name);
  check_width(state, metadata.record, pth.string());
  Mlp mlp(static_cast<std::int64_t>(metadata.record.features.size()));
  copy_weights(state, *mlp, pth.string());
  const ModelRecord record = complete_record(std::move(metadata), state, pth);
  const torch::jit::Module script = to_torch_script(*mlp);
  const ScriptModel checked(script, record, pth.string());
  write_file_atomic(output, checkpoint_bytes(script, record));
}

}  // namespace pw
