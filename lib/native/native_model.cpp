#include "native/native_model.h"

#include <algorithm>
#include <cmath>

namespace pw {
namespace {

Network read_network(const std::string& bytes, const std::string& origin) {
  const ZipArchive archive(bytes, origin);
  return Network(ScriptModule(archive, origin));
}

}  // namespace

NativeModel::NativeModel(const CheckpointFile& file, std::string origin)
    : record_(file.record),
      origin_(std::move(origin)),
      network_(read_network(file.bytes, origin_)) {
  if (network_.inputs() != record_.features.size()) {
    throw DataError(origin_ + ": the model expects " + std::to_string(network_.inputs()) +
                    " features, " + record_.operator_name + " has " +
                    std::to_string(record_.features.size()));
  }
  const std::size_t quantiles = record_.quantiles.size();
  if (quantiles > 1 && network_.outputs() != quantiles) {
    throw DataError(origin_ + ": the model gives " + std::to_string(network_.outputs()) +
                    " quantiles, its record lists " + std::to_string(quantiles));
  }
}

std::vector<float> NativeModel::checked(std::vector<float> outputs) const {
  const bool finite =
      std::all_of(outputs.begin(), outputs.end(), [](float value) { return std::isfinite(value); });
  if (!finite) {
    throw DataError(origin_ + ": model output not finite for " + record_.operator_name);
  }
  return outputs;
}

std::vector<float> NativeModel::main_outputs(const std::vector<float>& all) const {
  std::vector<float> outputs;
  outputs.reserve(all.size() / network_.outputs());
  for (std::size_t i = network_.main_output(); i < all.size(); i += network_.outputs()) {
    outputs.push_back(all[i]);
  }
  return outputs;
}

std::vector<float> NativeModel::evaluate(const std::vector<float>& features) const {
  return checked(main_outputs(network_.evaluate(features)));
}

std::vector<float> NativeModel::evaluate_quantiles(const std::vector<float>& features) const {
  std::vector<float> outputs = network_.evaluate(features);
  return checked(record_.quantiles.size() > 1 ? std::move(outputs) : main_outputs(outputs));
}

std::vector<float> NativeModel::evaluate_members(const std::vector<float>& features) const {
  return checked(main_outputs(network_.evaluate_members(features)));
}

}  // namespace pw
