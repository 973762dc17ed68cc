#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "pw/dataset.h"
#include "pw/roofline.h"

namespace pw {

// A baseline: duration = overhead + compute * compute_us + dram * dram_us of the roofline, one set
// of coefficients per operator family for all GPUs, none below 0.
struct LinearModel {
  double overhead_us = 0;
  double compute = 0;
  double dram = 0;

  double duration_us(const Roofline& roofline) const {
    return overhead_us + compute * roofline.compute_us + dram * roofline.dram_us;
  }
};
using LinearModels = std::map<std::string, LinearModel>;  // by family

// Least squares of the relative error over all rows, by projected coordinate descent. Throws
// DataError for fewer than three rows.
LinearModel fit_linear(const Dataset& data);

std::string linear_models_json(const LinearModels& models);
LinearModels read_linear_models(const std::filesystem::path& path);  // checkpoints/linear.json

}  // namespace pw
