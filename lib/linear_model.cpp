#include "pw/linear_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/json_file.h"

namespace pw {
namespace {

constexpr std::size_t kTerms = 3;
using Terms = std::array<double, kTerms>;

// Normal equations of sum over rows of (coefficients . terms / duration - 1)^2.
struct NormalEquations {
  std::array<Terms, kTerms> matrix{};
  Terms right{};

  void add(const Terms& terms, double duration_us) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      right[i] += terms[i] / duration_us;
      for (std::size_t j = 0; j < kTerms; ++j) {
        matrix[i][j] += terms[i] * terms[j] / (duration_us * duration_us);
      }
    }
  }
};

// Minimises the quadratic over coefficients >= 0. Convex, so that coordinate descent converges to
// the minimum.
Terms non_negative_minimum(const NormalEquations& equations) {
  constexpr int kSweeps = 100000;
  constexpr double kConverged = 1e-13;
  Terms x{};
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double change = 0;
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (equations.matrix[i][i] == 0) {
        continue;  // a term that is 0 in every row
      }
      double rest = equations.right[i];
      for (std::size_t j = 0; j < kTerms; ++j) {
        rest -= j == i ? 0 : equations.matrix[i][j] * x[j];
      }
      const double next = std::max(0.0, rest / equations.matrix[i][i]);
      change = std::max(change, std::abs(next - x[i]) / (std::abs(next) + kConverged));
      x[i] = next;
    }
    if (change < kConverged) {
      break;
    }
  }
  return x;
}

}  // namespace

LinearModel fit_linear(const Dataset& data) {
  if (data.rows() < kTerms) {
    throw DataError(std::to_string(data.rows()) + " rows for a linear model of operator " +
                    std::string(data.family->name) + ", expected at least 3");
  }
  NormalEquations equations;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const Roofline& roofline = data.roofline[row];
    equations.add({1, roofline.compute_us, roofline.dram_us}, data.duration_us[row]);
  }
  const Terms x = non_negative_minimum(equations);
  return {x[0], x[1], x[2]};
}

std::string linear_models_json(const LinearModels& models) {
  Json json = Json::object();
  for (const auto& [family, model] : models) {
    json[family] = {
        {"overhead_us", model.overhead_us}, {"compute", model.compute}, {"dram", model.dram}};
  }
  return to_json_text(json) + "\n";
}

LinearModels read_linear_models(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const JsonFields file(json, path.string());
  LinearModels models;
  for (const auto& [family, coefficients] : json.items()) {
    operator_family(family);
    const JsonFields fields(file.object(family), path.string() + ": " + family);
    const LinearModel model{fields.number("overhead_us"), fields.number("compute"),
                            fields.number("dram")};
    if (std::min({model.overhead_us, model.compute, model.dram}) < 0 ||
        model.overhead_us + model.compute + model.dram <= 0) {
      throw DataError(path.string() + ": " + family +
                      " has negative coefficients or none above 0, expected a fitted model");
    }
    models[family] = model;
  }
  return models;
}

}  // namespace pw
