#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pw/hardware_catalog.h"
#include "pw/model_record.h"
#include "pw/operators.h"

namespace pw {

// Profiled rows of one operator family as training data. All vectors have one entry per row except
// `features` (rows x family features, row-major, raw values).
struct Dataset {
  const OperatorFamily* family = nullptr;
  AnalysisOptions analysis;
  std::vector<double> features;
  std::vector<double> ideal_cycles;
  std::vector<double> duration_us;
  std::vector<double> efficiency;       // overall_perf, the training target
  std::vector<std::uint32_t> hardware;  // index into hardware_names
  std::vector<std::uint64_t> problem;   // equal for rows with the same GPU and problem columns
  std::vector<std::uint32_t> file;      // index into files
  std::vector<std::size_t> line;        // in that file
  std::vector<std::string> hardware_names;
  std::vector<DataFile> files;
  std::map<std::string, std::int64_t> dropped;  // reason -> rows left out

  std::size_t rows() const { return duration_us.size(); }
  std::size_t width() const { return family->features->size(); }
};

// Reads any number of CSVs: the family's problem columns, `avg_duration` (us) and `hardware` (full
// name or alias). Feature columns that are present are compared with our own values (1e-9
// relative) and a difference is an error that names the line. Rows that cannot be used (non-finite
// or non-positive duration, impossible problem, unknown GPU) are dropped and counted by reason;
// no usable row at all is an error.
Dataset read_dataset(const std::vector<std::filesystem::path>& paths, const OperatorFamily& family,
                     const HardwareCatalog& catalog, const AnalysisOptions& analysis);

}  // namespace pw
