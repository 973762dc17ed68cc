#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli.h"
#include "pw/dataset.h"
#include "pw/hardware_catalog.h"

namespace pw {

// The options that say which rows a model is fitted on and what is computed of them.
struct TrainingDataArguments {
  std::string operator_name;
  std::vector<std::filesystem::path> train, test;
  std::optional<std::filesystem::path> hardware_folder;
  std::string source;
  std::vector<std::string> where;
  std::string duration_unit;  // empty: as DatasetOptions
  std::string weight_column;
  std::vector<std::string> group_by, hold_out_by, features;
  std::string fa2_schedule = std::string(to_string(AnalysisOptions{}.fa2_schedule));
  std::string gemm_tile = std::string(to_string(AnalysisOptions{}.gemm_tile));
  std::optional<double> weight_copies;
};

void add_training_data_options(cli::App& command, TrainingDataArguments& arguments);

struct TrainingData {
  Dataset train;
  std::optional<Dataset> test;
};
// Reads the files and shows a summary of each part on stderr.
TrainingData read_training_data(const TrainingDataArguments& arguments, ModelKind kind);

// The rows of `arguments.test` for a model with this record.
Dataset read_rows_for(const TrainingDataArguments& arguments, const ModelRecord& record);

}  // namespace pw
