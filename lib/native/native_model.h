#pragma once

#include <string>

#include "checkpoint_archive.h"
#include "native/network.h"
#include "pw/model_record.h"

namespace pw {

// A checkpoint evaluated without LibTorch. May be used by several threads at once.
class NativeModel : public OperatorModel {
 public:
  // `origin` names the file in messages. Throws UnknownNetwork for a module that pw-train does not
  // write, DataError when its weights are not finite or do not suit its record.
  NativeModel(const CheckpointFile& file, std::string origin);

  const ModelRecord& record() const override { return record_; }
  std::vector<float> evaluate(const std::vector<float>& features) const override;
  std::vector<float> evaluate_quantiles(const std::vector<float>& features) const override;
  std::size_t members() const override { return network_.members(); }
  std::vector<float> evaluate_members(const std::vector<float>& features) const override;

 private:
  std::vector<float> checked(std::vector<float> outputs) const;
  std::vector<float> main_outputs(const std::vector<float>& all) const;

  ModelRecord record_;
  std::string origin_;
  Network network_;
};

}  // namespace pw
