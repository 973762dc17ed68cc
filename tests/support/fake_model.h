#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pw/model_record.h"
#include "pw/operator_predictor.h"

namespace pw {

// A model whose output is a function of a row's features; counts its calls.
class FakeModel : public OperatorModel {
 public:
  using Function = std::function<float(const float* features)>;

  FakeModel(const std::string& family, Function function) : function_(std::move(function)) {
    record_.operator_name = family;
    for (const Feature& feature : *operator_family(family).features) {
      record_.features.emplace_back(feature.name);
    }
  }

  const ModelRecord& record() const override { return record_; }
  ModelRecord& record() { return record_; }
  std::vector<float> evaluate(const std::vector<float>& features) const override {
    ++calls;
    std::vector<float> outputs;
    for (std::size_t i = 0; i < features.size(); i += record_.features.size()) {
      outputs.push_back(function_(features.data() + i));
    }
    rows += outputs.size();
    return outputs;
  }

  mutable std::size_t calls = 0;
  mutable std::size_t rows = 0;

 private:
  ModelRecord record_;
  Function function_;
};

inline std::shared_ptr<FakeModel> constant_model(const std::string& family, float output) {
  return std::make_shared<FakeModel>(family, [output](const float*) { return output; });
}

inline LoadedModel loaded(std::shared_ptr<const OperatorModel> model) {
  return {std::move(model), "fake.pt", "0"};
}

}  // namespace pw
