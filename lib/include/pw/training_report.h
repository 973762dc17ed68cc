#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pw/dataset.h"
#include "pw/trainer.h"

namespace pw {

// What a report names that the data sets do not know.
struct ReportSources {
  std::vector<std::filesystem::path> train, test;  // as read_dataset took them
  std::string timestamp;                           // ISO, local time
};

// Writes into `folder`, which is made when absent: metadata.json (the published layout, then the
// record as stored), loss_curve.csv (one line per epoch) and worst_cases_top100.csv (the rows of
// the test data, or without them of the validation part, with the largest relative error of
// overall_perf: all columns of their files, then predicted and rel_error). Needs no LibTorch.
void write_training_report(const std::filesystem::path& folder, const TrainingRun& run,
                           const Dataset& train, const Dataset* test, const ReportSources& sources);

// Which kernels a quantile model's report lists: those that stay below the predicted ceiling.
struct KernelReportOptions {
  double threshold = 0;              // listed below it: measured - predicted overall_perf
  std::optional<std::int64_t> topk;  // per GPU; absent: all
};

// Writes into `folder` the metadata.json and loss_curve.csv of a quantile model, and into its
// kernel_reports/ one topk_underperforming_<GPU>.csv per GPU that has kernels below the threshold,
// the worst first, and summary.csv over all of them; files of an earlier report there are removed.
// `predicted`: overall_perf of all rows of `train`.
// Source: spec of the published training, "Kernel reports".
void write_quantile_report(const std::filesystem::path& folder, const TrainingRun& run,
                           const Dataset& train, const std::vector<float>& predicted,
                           const ReportSources& sources, const KernelReportOptions& options);

}  // namespace pw
