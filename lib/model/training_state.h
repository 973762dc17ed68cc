#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/split.h"
#include "pw/trainer.h"

namespace pw {

// An interrupted run: named tensors, all on the CPU, and what the run was asked to do.
class TrainingState {
 public:
  // `run`: JSON that says which options and data the state belongs to.
  explicit TrainingState(std::string run) : run_(std::move(run)) {}

  void put(const std::string& name, const torch::Tensor& tensor);
  // Throws DataError when the state has no such tensor.
  const torch::Tensor& get(const std::string& name) const;

  void put_integers(const std::string& name, const std::vector<std::int64_t>& values);
  std::vector<std::int64_t> get_integers(const std::string& name) const;
  void put_text(const std::string& name, const std::string& bytes);
  std::string get_text(const std::string& name) const;

  // Writes the file at once or not at all.
  void save(const std::filesystem::path& path) const;
  // Throws DataError for a file that is damaged, no state, or the state of another run than `run`.
  static TrainingState load(const std::filesystem::path& path, const std::string& run);

 private:
  std::string run_;
  std::map<std::string, torch::Tensor> tensors_;
  std::string origin_ = "state";
};

// Weights and buffers of a module, by place. take_ copies into the module's own tensors.
using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;
void put_tensors(TrainingState& state, const std::string& prefix, const NamedTensors& tensors);
void take_tensors(const TrainingState& state, const std::string& prefix,
                  const NamedTensors& tensors);

// Moments and step counts.
void put_optimizer(TrainingState& state, const torch::optim::Optimizer& optimizer);
void take_optimizer(const TrainingState& state, torch::optim::Optimizer& optimizer,
                    torch::Device device);

void put_curve(TrainingState& state, const std::vector<EpochReport>& curve);
std::vector<EpochReport> take_curve(const TrainingState& state);

}  // namespace pw
