#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "native/dense_layer.h"
#include "native/script_module.h"

namespace pw {

// The networks that `pw-train` writes, for evaluation without LibTorch:
//
//   raw features -> log1p, or clipped and standardised
//                -> members: Linear, ReLU (and BatchNorm, folded into the next Linear), ..., Linear
//                   -> several outputs fall by construction: each the one before less a softplus
//                -> mean of the members
//                -> quantiles: shifts of the GPU that some features tell, and a running minimum
//                -> sigmoid, or clipped, or as it is
class Network {
 public:
  // Throws UnknownNetwork for a module of another structure, DataError for weights that are not
  // finite.
  explicit Network(const ScriptModule& module);

  std::size_t inputs() const { return members_.front().front().inputs(); }
  std::size_t outputs() const { return members_.front().back().outputs(); }
  std::size_t members() const { return members_.size(); }
  // Which output the module's forward() gives.
  std::size_t main_output() const { return main_output_; }

  // `features`: rows x inputs(), row-major. Returns rows x outputs().
  std::vector<float> evaluate(const std::vector<float>& features) const;
  // Each member as if it were the only one: members() x rows x outputs().
  std::vector<float> evaluate_members(const std::vector<float>& features) const;

 private:
  using Member = std::vector<DenseLayer>;

  // Of each feature.
  struct Scaling {
    std::vector<float> low, high, mean, std;
  };
  struct Calibration {
    std::vector<std::size_t> columns;  // features that tell the GPU
    double tolerance = 0;              // of these
    std::vector<float> keys;           // GPUs x columns
    std::vector<float> shifts;         // GPUs x outputs
    std::vector<float> common_shift;   // outputs, of any other GPU
  };
  struct Range {
    float low = 0, high = 0;
  };

  // Reading: network_reader.cpp.
  void read_output(const ScriptModule& module);
  void read_quantiles(const ScriptModule& module, const ScriptExprPtr& forward);
  void read_calibration(const ScriptModule& module, const ScriptExprPtr& shift);
  void read_ensemble(const ScriptModule& module);
  void read_member(const ScriptModule& module, const std::string& path);
  void read_scaling(const ScriptModule& module);
  // Layers from the last to the first; returns what the first one takes.
  ScriptExprPtr read_layers(const ScriptModule& module, ScriptExprPtr output);
  void check_shapes() const;

  // Evaluation: network.cpp.
  class Buffers;
  void load_inputs(const float* features, std::size_t rows, PaddedRows& x) const;
  const PaddedRows& run_member(const Member& member, std::size_t rows, Buffers& buffers) const;
  void finish(const float* features, float* outputs) const;  // one row
  template <class Use>
  void for_each_member_output(const std::vector<float>& features, Use use) const;

  std::optional<Scaling> scaling_;  // absent: log1p
  std::vector<Member> members_;
  bool falling_ = false;
  bool sigmoid_ = false;
  std::optional<Range> range_;
  std::optional<Calibration> calibration_;
  std::size_t main_output_ = 0;
};

}  // namespace pw
