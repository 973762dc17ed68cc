#pragma once

#include <filesystem>
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

}  // namespace pw
