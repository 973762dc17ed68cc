#include "training_data.h"

#include <iostream>

#include "io/json_file.h"
#include "option_values.h"
#include "pw/data_paths.h"
#include "pw/operand_copies.h"
#include "training_progress.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kData[] = "Data";
constexpr char kModel[] = "Model";

DatasetOptions dataset_options(const TrainingDataArguments& arguments, ModelKind kind) {
  DatasetOptions options;
  options.kind = kind;
  options.analysis = {parse_fa2_schedule(arguments.fa2_schedule),
                      parse_gemm_tile_policy(arguments.gemm_tile)};
  options.weight_copies = arguments.weight_copies;
  if (options.weight_copies && !is_copy_count(*options.weight_copies)) {
    throw UsageError("weight copies are " + std::to_string(*options.weight_copies) +
                     ", expected 1 to 1e6");
  }
  options.features = arguments.features;
  for (const std::string& text : arguments.where) {
    options.filters.push_back(parse_row_filter(text));
  }
  if (!arguments.duration_unit.empty()) {
    options.duration_unit = parse_duration_unit(arguments.duration_unit);
  }
  return options;
}

void add_file_options(cli::App& command, TrainingDataArguments& arguments) {
  command.add_option("--operator", arguments.operator_name, "gemm, attn, rmsnorm, ...")
      ->type_name("NAME")
      ->check(cli::Check(check_operator_name))
      ->required()
      ->group(kData);
  command.add_option("--train", arguments.train, "Profiled rows")
      ->type_name("CSV...")
      ->required()
      ->group(kData);
  command.add_option("--test", arguments.test, "Rows that are measured and never trained on")
      ->type_name("CSV...")
      ->group(kData);
  command
      .add_option("--source", arguments.source,
                  "Where the data comes from and its licence, stored in the checkpoint")
      ->type_name("TEXT")
      ->group(kData);
  command.add_option("--hardware-dir", arguments.hardware_folder, "Folder of the GPU files")
      ->type_name("FOLDER")
      ->group(kData);
}

void add_column_options(cli::App& command, TrainingDataArguments& arguments) {
  command
      .add_option("--where", arguments.where,
                  "Use only rows with column=value, column!=value, column=value|value, "
                  "column>=number or column<=number; all conditions hold when given several times")
      ->type_name("CONDITION")
      ->take_all()
      ->expected(1)
      ->group(kData);
  command
      .add_option(
          "--duration-unit", arguments.duration_unit,
          "Of avg_duration, us if not given; a header such as avg_duration_ms names its own")
      ->check(cli::IsMember({"us", "ms", "s"}))
      ->group(kData);
  command
      .add_option("--weight", arguments.weight_column,
                  "Column of the training rows' weights in the loss")
      ->type_name("COLUMN")
      ->group(kData);
  command
      .add_option("--group-by", arguments.group_by,
                  "Columns whose cells make one group of the validation split; by default hardware "
                  "and the problem")
      ->type_name("COLUMN,...")
      ->delimiter(',')
      ->group(kData);
}

void add_analysis_options(cli::App& command, TrainingDataArguments& arguments) {
  command
      .add_option("--features", arguments.features,
                  "Use these features of the model's kind alone, for ablations")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->group(kModel);
  command
      .add_option("--weight-copies", arguments.weight_copies,
                  "Sets of operands (weights of GEMMs, contexts of attention) that the benchmark "
                  "used in turn, for rows without that column; 1 = in cache if they fit "
                  "(preset recommended; default: 1000 for GEMMs, 1 for attention)")
      ->group(kModel);
  command
      .add_option("--fa2-schedule", arguments.fa2_schedule,
                  "How FlashAttention-2 tasks are scheduled")
      ->check(cli::IsMember({"published", "faithful"}))
      ->capture_default_str()
      ->group(kModel);
  command.add_option("--gemm-tile", arguments.gemm_tile, "Tile of GEMMs whose row names none")
      ->check(cli::IsMember({"selected", "fixed_128"}))
      ->capture_default_str()
      ->group(kModel);
}

}  // namespace

void add_training_data_options(cli::App& command, TrainingDataArguments& arguments) {
  add_file_options(command, arguments);
  add_column_options(command, arguments);
  add_analysis_options(command, arguments);
}

TrainingData read_training_data(const TrainingDataArguments& arguments, ModelKind kind) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", arguments.hardware_folder));
  const OperatorFamily& family = operator_family(arguments.operator_name);
  const DatasetOptions test_options = dataset_options(arguments, kind);
  DatasetOptions train_options = test_options;
  train_options.group_by = arguments.group_by;
  train_options.hold_out_by = arguments.hold_out_by;
  train_options.weight_column = arguments.weight_column;
  TrainingData data{read_dataset(arguments.train, family, catalog, train_options), std::nullopt};
  for (DataFile& file : data.train.files) {
    file.source = arguments.source;
  }
  print_data_summary(std::cerr, data.train, "training data");
  if (!arguments.test.empty()) {
    data.test = read_dataset(arguments.test, family, catalog, test_options);
    print_data_summary(std::cerr, *data.test, "test data");
  }
  return data;
}

Dataset read_rows_for(const TrainingDataArguments& arguments, const ModelRecord& record) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", arguments.hardware_folder));
  DatasetOptions options = dataset_options(arguments, record.kind);
  options.analysis = record.analysis;
  if (!options.weight_copies) options.weight_copies = record.operand_copies;
  Dataset data =
      read_dataset(arguments.test, operator_family(record.operator_name), catalog, options);
  if (!record.attention_layout.empty() && record.attention_layout != data.attention_layout) {
    throw DataError("the model is of " + record.attention_layout + " attention, the rows are " +
                    (data.attention_layout.empty() ? "of both layouts" : data.attention_layout) +
                    ": select rows with --where attention_type=...");
  }
  print_data_summary(std::cerr, data, "test data");
  return data;
}

}  // namespace pw
