#include "train_mlp.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "pw/hardware_catalog.h"
#include "pw/trainer.h"
#include "training_progress.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string operator_name;
  std::vector<fs::path> train, test;
  fs::path output;
  std::optional<fs::path> hardware_folder;
  std::string source;
  std::vector<std::string> where;
  std::string fa2_schedule = std::string(to_string(AnalysisOptions{}.fa2_schedule));
  std::string gemm_tile = std::string(to_string(AnalysisOptions{}.gemm_tile));
  bool published_rules = false;
  MlpOptions mlp;
};

AnalysisOptions analysis_of(const Options& options) {
  AnalysisOptions analysis{parse_fa2_schedule(options.fa2_schedule),
                           parse_gemm_tile_policy(options.gemm_tile)};
  if (options.published_rules) {
    analysis.fa2_schedule = Fa2Schedule::published;
  }
  return analysis;
}

Dataset read(const std::vector<fs::path>& paths, const Options& options,
             const HardwareCatalog& catalog, const char* what) {
  DatasetOptions dataset;
  dataset.analysis = analysis_of(options);
  for (const std::string& text : options.where) {
    dataset.filters.push_back(parse_row_filter(text));
  }
  Dataset data = read_dataset(paths, operator_family(options.operator_name), catalog, dataset);
  for (DataFile& file : data.files) {
    file.source = options.source;
  }
  print_data_summary(std::cerr, data, what);
  return data;
}

int run(const Options& options) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", options.hardware_folder));
  const Dataset train = read(options.train, options, catalog, "training data");
  std::optional<Dataset> test;
  if (!options.test.empty()) {
    test = read(options.test, options, catalog, "test data");
  }
  MlpOptions mlp = options.mlp;
  mlp.published_split = mlp.published_split || options.published_rules;
  TrainingProgress progress(std::cerr);
  const ModelRecord record = train_mlp(train, test ? &*test : nullptr, mlp, options.output,
                                       [&](const EpochReport& report) { progress.show(report); });
  progress.finish();
  print_metrics(std::cout, record.metrics);
  std::cerr << "wrote " << options.output.string() << '\n';
  return kDone;
}

void add_data_options(CLI::App& command, Options& options) {
  const std::string group = "Data";
  command.add_option("--operator", options.operator_name, "gemm, attn, rmsnorm, ...")
      ->type_name("NAME")
      ->required()
      ->group(group);
  command.add_option("--train", options.train, "Profiled rows, avg_duration in microseconds")
      ->type_name("CSV...")
      ->required()
      ->group(group);
  command.add_option("--test", options.test, "Rows that are measured and never trained on")
      ->type_name("CSV...")
      ->group(group);
  command.add_option("--output", options.output, "Checkpoint to write")
      ->type_name("FILE")
      ->required()
      ->group(group);
  command
      .add_option("--where", options.where,
                  "Use only rows with column=value, column!=value or column=value|value; all "
                  "conditions hold when given several times")
      ->type_name("CONDITION")
      ->take_all()
      ->expected(1)
      ->group(group);
  command
      .add_option("--source", options.source,
                  "Where the data comes from and its licence, stored in the checkpoint")
      ->type_name("TEXT")
      ->group(group);
  command.add_option("--hardware-dir", options.hardware_folder, "Folder of the GPU files")
      ->type_name("FOLDER")
      ->group(group);
}

void add_analysis_options(CLI::App& command, Options& options) {
  const std::string group = "Features";
  command
      .add_option("--fa2-schedule", options.fa2_schedule,
                  "How FlashAttention-2 tasks are scheduled")
      ->check(CLI::IsMember({"published", "faithful"}))
      ->capture_default_str()
      ->group(group);
  command.add_option("--gemm-tile", options.gemm_tile, "Tile of GEMMs whose row names none")
      ->check(CLI::IsMember({"selected", "fixed_128"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_flag("--published-rules", options.published_rules,
                "As the original: validation rows drawn by row, published FA2 schedule")
      ->group(group);
}

void add_mlp_options(CLI::App& command, MlpOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* description) {
    command.add_option(name, value, description)->capture_default_str()->group("Training");
  };
  add("--epochs", options.epochs, "At most so many epochs");
  add("--batch-size", options.batch_size, "Rows per step");
  add("--learning-rate", options.learning_rate, "AdamW learning rate at the start");
  add("--weight-decay", options.weight_decay, "AdamW decoupled weight decay");
  add("--clip-norm", options.clip_norm, "Gradient clipping, global L2 norm");
  add("--dropout", options.dropout, "Dropout after each block");
  add("--scheduler-factor", options.scheduler_factor, "Learning rate drop on a plateau");
  add("--scheduler-patience", options.scheduler_patience, "Epochs without progress before a drop");
  add("--min-learning-rate", options.min_learning_rate, "Learning rate at which drops end");
  add("--patience", options.early_stopping_patience, "Epochs without progress before the end");
  add("--validation-fraction", options.validation_fraction, "Share of the training rows");
  add("--seed", options.seed, "Of split, initial weights, order and dropout");
  add("--threads", options.threads, "LibTorch threads; another number gives other last digits");
  command
      .add_flag("--published-split", options.published_split,
                "Draw validation rows by row; by default by whole problems per GPU")
      ->group("Training");
}

}  // namespace

void add_mlp_command(CLI::App& parent, std::function<int()>& action) {
  CLI::App* command =
      parent.add_subcommand("mlp", "Fit the published network to profiled durations");
  const auto options = std::make_shared<Options>();
  add_data_options(*command, *options);
  add_analysis_options(*command, *options);
  add_mlp_options(*command, options->mlp);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
