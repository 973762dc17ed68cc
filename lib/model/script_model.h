#pragma once

#include <string>

#include <torch/script.h>

#include "pw/model_record.h"

namespace pw {

// A TorchScript module as a model: frozen for inference at construction.
class ScriptModel : public OperatorModel {
 public:
  // `origin` names the file in messages. Throws DataError when the module's weights are not finite,
  // or it does not give one number per row for the record's features.
  ScriptModel(torch::jit::Module module, ModelRecord record, std::string origin);

  const ModelRecord& record() const override { return record_; }
  std::vector<float> evaluate(const std::vector<float>& features) const override;
  std::vector<float> evaluate_quantiles(const std::vector<float>& features) const override;

 private:
  torch::Tensor output_of(const std::string& method, torch::Tensor features) const;
  void check_output(const std::string& method, const std::vector<std::int64_t>& shape) const;
  std::vector<float> evaluate_method(const std::string& method,
                                     const std::vector<float>& features) const;

  // Module::forward is not const although running a frozen module changes nothing.
  mutable torch::jit::Module module_;
  ModelRecord record_;
  std::string origin_;
};

// One line of a message of LibTorch: the reason without traceback and backtrace.
std::string short_reason(const std::string& message);

// The bytes of a checkpoint file: the module as TorchScript with the record and a checksum inside.
// They depend on nothing but the two.
std::string checkpoint_bytes(const torch::jit::Module& module, const ModelRecord& record);

}  // namespace pw
