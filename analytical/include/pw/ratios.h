#pragma once

#include <string_view>
#include <vector>

#include "pw/attention.h"
#include "pw/gemm.h"
#include "pw/hardware_spec.h"

namespace pw {

// Inputs of `log_ratio` models: logarithms of ratios between what limits a kernel and the roofline
// bound, so that they mean the same on every GPU. Formulas and their source: docs/method.md.
struct RatioFeatures {
  double bound_us = 0;         // the model's output is ln(duration_us / bound_us)
  std::vector<double> values;  // as the names of the family
};

// 22 features from the problem, the selected tile and the GPU's sustained rates.
const std::vector<std::string_view>& gemm_ratio_names();
RatioFeatures gemm_ratios(const GemmConfig& gemm, const HardwareSpec& hardware);

// 19 features from sums over the requests of a batch and the GPU's nominal rates.
const std::vector<std::string_view>& attention_ratio_names();
RatioFeatures attention_ratios(const AttentionConfig& attention, const HardwareSpec& hardware);

}  // namespace pw
