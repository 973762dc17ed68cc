#pragma once

#include <filesystem>
#include <vector>

#include "pw/dataset.h"
#include "pw/training_report.h"

namespace pw {

// The CSVs of write_quantile_report; `paths` are the files of the data.
void write_kernel_reports(const std::filesystem::path& folder, const Dataset& data,
                          const std::vector<std::filesystem::path>& paths,
                          const std::vector<float>& predicted, const KernelReportOptions& options);

}  // namespace pw
