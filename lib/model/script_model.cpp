#include "model/script_model.h"

#include <algorithm>
#include <sstream>

#include "checkpoint_archive.h"

namespace pw {
namespace {

constexpr char kForward[] = "forward";
constexpr char kQuantiles[] = "quantiles";
constexpr std::int64_t kRowsPerCall = 1 << 16;  // bounds the memory of one call to about 130 MB

void check_finite(const std::string& name, const torch::Tensor& tensor, const ModelRecord& record,
                  const std::string& origin) {
  if (tensor.is_floating_point() && !torch::isfinite(tensor).all().item<bool>()) {
    throw DataError(origin + ": model output not finite for " + record.operator_name +
                    ": the weights '" + name + "' are not all finite; train it again");
  }
}

void check_weights(const torch::jit::Module& module, const ModelRecord& record,
                   const std::string& origin) {
  for (const auto& parameter : module.named_parameters()) {
    check_finite(parameter.name, parameter.value, record, origin);
  }
  for (const auto& buffer : module.named_buffers()) {
    check_finite(buffer.name, buffer.value, record, origin);
  }
}

// Why a module that fails on rows of the record's features does, if its first matrix tells.
void check_width(const torch::jit::Module& module, const ModelRecord& record,
                 const std::string& origin) {
  for (const torch::Tensor& parameter : module.parameters()) {
    if (parameter.dim() != 2) continue;
    const auto width = static_cast<std::size_t>(parameter.size(1));
    if (width == record.features.size()) return;
    throw DataError(origin + ": the model expects " + std::to_string(width) + " features, " +
                    record.operator_name + " has " + std::to_string(record.features.size()));
  }
}

std::string saved_bytes(const torch::jit::Module& module,
                        const torch::jit::ExtraFilesMap& extra_files) {
  std::ostringstream stream;  // a stream, because the archive of a file holds the file's name
  module.save(stream, extra_files);
  return stream.str();
}

}  // namespace

ScriptModel::ScriptModel(torch::jit::Module module, ModelRecord record, std::string origin)
    : record_(std::move(record)), origin_(std::move(origin)) {
  check_weights(module, record_, origin_);
  module.eval();
  const auto quantiles = static_cast<std::int64_t>(record_.quantiles.size());
  const bool several = quantiles > 1;
  if (several && !module.find_method(kQuantiles)) {
    throw DataError(origin_ + ": the model has no method '" + kQuantiles +
                    "', but its record lists " + std::to_string(quantiles) + " quantiles");
  }
  try {
    module_ = torch::jit::freeze(
        module, several ? std::vector<std::string>{kQuantiles} : std::vector<std::string>{});
    check_output(kForward, {2});
    if (several) {
      check_output(kQuantiles, {2, quantiles});
    }
  } catch (const DataError&) {
    throw;
  } catch (const std::exception& error) {
    check_width(module, record_, origin_);
    throw DataError(origin_ + ": the model cannot be evaluated on " +
                    std::to_string(record_.features.size()) +
                    " features: " + short_reason(error.what()));
  }
}

void ScriptModel::check_output(const std::string& method,
                               const std::vector<std::int64_t>& shape) const {
  const auto width = static_cast<std::int64_t>(record_.features.size());
  const torch::Tensor output = output_of(method, torch::ones({2, width}));
  if (output.sizes() != torch::IntArrayRef(shape) || output.scalar_type() != torch::kFloat32) {
    std::ostringstream found;
    found << output.dtype() << " " << output.sizes();
    throw DataError(origin_ + ": the model gives " + found.str() + " for two rows, expected one " +
                    "float per row" + (shape.size() > 1 ? " and quantile" : ""));
  }
}

torch::Tensor ScriptModel::output_of(const std::string& method, torch::Tensor features) const {
  const torch::NoGradGuard no_grad;
  const torch::IValue output = module_.get_method(method)({std::move(features)});
  if (!output.isTensor()) {
    throw DataError(origin_ + ": the model's output is " + output.tagKind() +
                    ", expected one tensor");
  }
  return output.toTensor().contiguous();
}

std::vector<float> ScriptModel::evaluate(const std::vector<float>& features) const {
  return evaluate_method(kForward, features);
}

std::vector<float> ScriptModel::evaluate_quantiles(const std::vector<float>& features) const {
  return evaluate_method(record_.quantiles.size() > 1 ? kQuantiles : kForward, features);
}

std::vector<float> ScriptModel::evaluate_method(const std::string& method,
                                                const std::vector<float>& features) const {
  const auto width = static_cast<std::int64_t>(record_.features.size());
  const std::int64_t rows = static_cast<std::int64_t>(features.size()) / width;
  std::vector<float> result;
  for (std::int64_t begin = 0; begin < rows; begin += kRowsPerCall) {
    const std::int64_t count = std::min(kRowsPerCall, rows - begin);
    // from_blob takes no const pointer; the model does not write to its input.
    auto* data = const_cast<float*>(features.data()) + begin * width;
    const torch::Tensor output = output_of(method, torch::from_blob(data, {count, width}));
    result.insert(result.end(), output.data_ptr<float>(),
                  output.data_ptr<float>() + output.numel());
  }
  if (!std::all_of(result.begin(), result.end(),
                   [](float value) { return std::isfinite(value); })) {
    throw DataError(origin_ + ": model output not finite for " + record_.operator_name);
  }
  return result;
}

// LibTorch's messages are a traceback with the reason in its last line, or a reason with a
// backtrace behind it.
std::string short_reason(const std::string& message) {
  const std::size_t reason = message.find("RuntimeError: ");
  const std::size_t begin = reason == std::string::npos ? 0 : reason;
  const std::size_t first = std::min(message.find_first_not_of('\n', begin), message.size());
  return message.substr(first, message.find('\n', first) - first);
}

std::string checkpoint_bytes(const torch::jit::Module& module, const ModelRecord& record) {
  torch::jit::ExtraFilesMap extra_files{{kRecordMember, record_json(record)}};
  const ZipArchive unsigned_archive(saved_bytes(module, extra_files), "checkpoint");
  extra_files[kChecksumMember] = archive_checksum(unsigned_archive);
  return saved_bytes(module, extra_files);
}

}  // namespace pw
