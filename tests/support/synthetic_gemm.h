#pragma once

#include <algorithm>
#include <cstdint>

#include "pw/dataset.h"
#include "support/test_hardware.h"

namespace pw {

// GEMMs of many shapes on two GPUs that take a launch and 1.2 times the bound of their busier pipe.
inline Dataset synthetic_data(std::int64_t shapes, std::int64_t first = 0,
                              ModelKind kind = ModelKind::efficiency) {
  Dataset data;
  data.family = &operator_family("gemm");
  data.feature_names = feature_names(*data.family, kind);
  data.options.kind = kind;
  data.options.analysis.gemm_tile = GemmTilePolicy::fixed_128;
  data.files = {{"synthetic.csv", "", 0, ""}};
  const HardwareSpec gpus[] = {test_ampere(), test_hopper()};
  data.hardware_names = {gpus[0].name, gpus[1].name};
  for (std::int64_t shape = first; shape < first + shapes; ++shape) {
    const GemmConfig gemm{1 + shape * 37 % 4096, 128 + shape * 53 % 8192, 256 + shape * 71 % 4096,
                          std::nullopt};
    for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
      const PipelineFeatures features = analyze(gemm, gpus[gpu], data.options.analysis);
      const double cycles = ideal_cycles<double>(features);
      const double bound_us =
          std::max(cycles, features.memory.global_cycles) / gpus[gpu].sm_freq_mhz;
      const ModelInput input = model_input(gemm, gpus[gpu], kind, data.options.analysis);
      data.features.insert(data.features.end(), input.features.begin(), input.features.end());
      data.reference_us.push_back(input.reference_us);
      data.duration_us.push_back(2 + 1.2 * bound_us);
      data.efficiency.push_back(efficiency_of(cycles, data.duration_us.back(), gpus[gpu]));
      data.hardware.push_back(gpu);
      data.problem.push_back(static_cast<std::uint64_t>(2 * shape + gpu));
      data.file.push_back(0);
      data.line.push_back(data.rows() + 1);
    }
  }
  data.files[0].rows_used = static_cast<std::int64_t>(data.rows());
  return data;
}

}  // namespace pw
