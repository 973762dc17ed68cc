#include "model/training_state.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include <torch/script.h>

#include "io/files.h"
#include "io/json_file.h"
#include "io/sha256.h"

namespace pw {
namespace {

constexpr std::string_view kMagic = "pw-train state 1\n";  // then SHA-256 of the rest, line feed
constexpr std::size_t kDigestLength = 64;
constexpr char kRunName[] = "run";
constexpr std::int64_t kCurveColumns = 7;

torch::Tensor bytes_as_tensor(const std::string& bytes) {
  torch::Tensor tensor = torch::empty({static_cast<std::int64_t>(bytes.size())}, torch::kUInt8);
  std::memcpy(tensor.data_ptr<std::uint8_t>(), bytes.data(), bytes.size());
  return tensor;
}

std::string tensor_as_bytes(const torch::Tensor& tensor) {
  const torch::Tensor bytes = tensor.contiguous();
  return {reinterpret_cast<const char*>(bytes.data_ptr<std::uint8_t>()),
          static_cast<std::size_t>(bytes.numel())};
}

// The tensors in the file: what stands behind a good checksum.
std::string checked_content(const std::string& file, const std::string& origin) {
  const std::size_t head = kMagic.size() + kDigestLength + 1;
  if (file.compare(0, kMagic.size(), kMagic) != 0 || file.size() < head) {
    throw DataError(origin + ": no state that this program saved with --save-state");
  }
  std::string content = file.substr(head);
  if (sha256_hex(content) != file.substr(kMagic.size(), kDigestLength)) {
    throw DataError(origin + ": damaged (its checksum differs), use an older state or start anew");
  }
  return content;
}

// "training/seed": the first place where two runs differ.
void check_same_run(const std::string& saved, const std::string& now, const std::string& origin) {
  if (saved == now) {
    return;
  }
  const Json differences = Json::diff(parse_json(saved, origin), parse_json(now, origin));
  throw DataError(origin + ": saved by a run with other options or data, the first difference is " +
                  differences.at(0).at("path").get<std::string>() +
                  ": resume with what the state was saved with");
}

}  // namespace

void TrainingState::put(const std::string& name, const torch::Tensor& tensor) {
  // A copy of its own: some tensors are views into vectors, and training goes on.
  tensors_[name] = tensor.detach().to(torch::kCPU).clone();
}

const torch::Tensor& TrainingState::get(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw DataError(origin_ + ": lacks '" + name + "': saved by another version, start anew");
  }
  return found->second;
}

void TrainingState::put_integers(const std::string& name, const std::vector<std::int64_t>& values) {
  put(name, torch::tensor(values, torch::kInt64));
}

std::vector<std::int64_t> TrainingState::get_integers(const std::string& name) const {
  const torch::Tensor values = get(name).contiguous();
  const auto* begin = values.data_ptr<std::int64_t>();
  return {begin, begin + values.numel()};
}

void TrainingState::put_text(const std::string& name, const std::string& bytes) {
  put(name, bytes_as_tensor(bytes));
}

std::string TrainingState::get_text(const std::string& name) const {
  return tensor_as_bytes(get(name));
}

void TrainingState::save(const std::filesystem::path& path) const {
  c10::Dict<std::string, torch::Tensor> dictionary;
  for (const auto& [name, tensor] : tensors_) {
    dictionary.insert(name, tensor);
  }
  dictionary.insert(kRunName, bytes_as_tensor(run_));
  const std::vector<char> content = torch::pickle_save(dictionary);
  const std::string bytes(content.begin(), content.end());
  write_file_atomic(path, std::string(kMagic) + sha256_hex(bytes) + "\n" + bytes);
}

TrainingState TrainingState::load(const std::filesystem::path& path, const std::string& run) {
  const std::string content = checked_content(read_file(path), path.string());
  TrainingState state(run);
  state.origin_ = path.string();
  const torch::IValue value = torch::pickle_load({content.begin(), content.end()});
  for (const auto& entry : value.toGenericDict()) {
    state.tensors_[entry.key().toStringRef()] = entry.value().toTensor();
  }
  check_same_run(state.get_text(kRunName), run, path.string());
  return state;
}

void put_tensors(TrainingState& state, const std::string& prefix, const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    state.put(prefix + name, tensor);
  }
}

void take_tensors(const TrainingState& state, const std::string& prefix,
                  const NamedTensors& tensors) {
  const torch::NoGradGuard no_grad;
  for (auto [name, tensor] : tensors) {
    tensor.copy_(state.get(prefix + name));
  }
}

void put_optimizer(TrainingState& state, const torch::optim::Optimizer& optimizer) {
  torch::serialize::OutputArchive archive;
  optimizer.save(archive);
  std::ostringstream bytes;
  archive.save_to(bytes);
  state.put_text("optimizer", bytes.str());
}

void take_optimizer(const TrainingState& state, torch::optim::Optimizer& optimizer,
                    torch::Device device) {
  std::istringstream bytes(state.get_text("optimizer"));
  torch::serialize::InputArchive archive;
  archive.load_from(bytes, device);
  optimizer.load(archive);
}

void put_curve(TrainingState& state, const std::vector<EpochReport>& curve) {
  torch::Tensor table =
      torch::empty({static_cast<std::int64_t>(curve.size()), kCurveColumns}, torch::kFloat64);
  auto* cell = table.data_ptr<double>();
  for (const EpochReport& report : curve) {
    const double row[] = {static_cast<double>(report.epoch),
                          static_cast<double>(report.epochs),
                          report.train_loss,
                          report.validation_loss.value_or(std::nan("")),
                          report.learning_rate,
                          report.seconds,
                          report.best ? 1.0 : 0.0};
    static_assert(std::size(row) == kCurveColumns);
    cell = std::copy(std::begin(row), std::end(row), cell);
  }
  state.put("curve", table);
}

std::vector<EpochReport> take_curve(const TrainingState& state) {
  const torch::Tensor table = state.get("curve").contiguous();
  std::vector<EpochReport> curve;
  const auto* cell = table.data_ptr<double>();
  for (std::int64_t row = 0; row < table.size(0); ++row, cell += kCurveColumns) {
    EpochReport report;
    report.epoch = static_cast<std::int64_t>(cell[0]);
    report.epochs = static_cast<std::int64_t>(cell[1]);
    report.train_loss = cell[2];
    if (!std::isnan(cell[3])) {
      report.validation_loss = cell[3];
    }
    report.learning_rate = cell[4];
    report.seconds = cell[5];
    report.best = cell[6] != 0;
    curve.push_back(report);
  }
  return curve;
}

}  // namespace pw
