#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pw/collective.h"

namespace pw {

// One CSV and what was fitted to it.
struct FittedFile {
  std::string gpu;
  std::filesystem::path path;
  std::vector<CollectiveSample> samples;
  CollectiveModel model;
};

// A table of the models' errors, one line per file. At least one file.
std::string error_report(const std::vector<FittedFile>& files);

// Tables of the errors of both kinds of model, on the same folds of the same durations. Reads the
// files again and fits both kinds anew.
std::string comparison_report(const std::vector<FittedFile>& files);

}  // namespace pw
