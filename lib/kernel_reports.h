#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "pw/dataset.h"

namespace pw {

// Which kernels a report lists: those that stay below the predicted ceiling.
struct KernelReportOptions {
  double threshold = 0;              // on measured - predicted overall_perf
  std::optional<std::int64_t> topk;  // per GPU; absent: all
};

// Writes into `folder` one topk_underperforming_<GPU>.csv per GPU that has kernels below the
// threshold, the worst first, and summary.csv over all of them. `predicted`: overall_perf of all
// rows of the data, of which `paths` are the files. Files of an earlier report are removed.
// Source: spec of the published training, "Kernel reports".
void write_kernel_reports(const std::filesystem::path& folder, const Dataset& data,
                          const std::vector<std::filesystem::path>& paths,
                          const std::vector<float>& predicted, const KernelReportOptions& options);

}  // namespace pw
