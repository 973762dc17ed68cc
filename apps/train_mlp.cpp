#include "train_mlp.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
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
  std::string preset = "published";
  std::string of_published_preset, of_recommended_preset;  // an option that was given, or empty
  std::optional<double> weight_copies;
  MlpOptions mlp;
  RatioOptions ratio;
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
  dataset.kind = options.preset == "recommended" ? ModelKind::log_ratio : ModelKind::efficiency;
  dataset.analysis = analysis_of(options);
  dataset.weight_copies = options.weight_copies;
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

void check_preset(const Options& options) {
  const bool recommended = options.preset == "recommended";
  const std::string& foreign =
      recommended ? options.of_published_preset : options.of_recommended_preset;
  if (!foreign.empty()) {
    throw DataError(foreign + " does not belong to --preset " + options.preset +
                    ": leave it out or choose the other preset");
  }
}

int run(const Options& options) {
  check_preset(options);
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", options.hardware_folder));
  const Dataset train = read(options.train, options, catalog, "training data");
  std::optional<Dataset> test;
  if (!options.test.empty()) {
    test = read(options.test, options, catalog, "test data");
  }
  TrainingProgress progress(std::cerr);
  const auto show = [&](const EpochReport& report) { progress.show(report); };
  const Dataset* test_rows = test ? &*test : nullptr;
  ModelRecord record;
  if (options.preset == "recommended") {
    record = train_log_ratio(train, test_rows, options.ratio, options.output, show);
  } else {
    MlpOptions mlp = options.mlp;
    mlp.published_split = mlp.published_split || options.published_rules;
    record = train_mlp(train, test_rows, mlp, options.output, show);
  }
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
  const std::string group = "Model";
  command
      .add_option("--preset", options.preset,
                  "published: the original's network and features; recommended: an ensemble on "
                  "dimensionless features (docs/training.md)")
      ->check(CLI::IsMember({"published", "recommended"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--weight-copies", options.weight_copies,
                  "Distinct weight matrices that the GEMM benchmark rotated through, for rows "
                  "without that column; 1 = always in cache if they fit (preset recommended)")
      ->group(group);
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

std::string default_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

// Options of training: for both presets, or for one, which is then remembered to refuse it with the
// other.
class TrainingOptions {
 public:
  TrainingOptions(CLI::App& command, Options& options) : command_(command), options_(options) {}

  template <class T>
  void both(const char* name, T MlpOptions::*published, T RatioOptions::*recommended,
            const std::string& description) {
    const std::string defaults =
        " (" + default_text(static_cast<double>(MlpOptions{}.*published)) + "; recommended " +
        default_text(static_cast<double>(RatioOptions{}.*recommended)) + ")";
    Options& options = options_;
    command_
        .add_option_function<T>(
            name,
            [&options, published, recommended](const T& value) {
              options.mlp.*published = value;
              options.ratio.*recommended = value;
            },
            description + defaults)
        ->group("Training");
  }

  template <class T>
  void published(const char* name, T MlpOptions::*member, const std::string& description) {
    one(name, options_.mlp, member, options_.of_published_preset,
        description + " (" + default_text(static_cast<double>(MlpOptions{}.*member)) + ")",
        "Training, preset published");
  }

  template <class T>
  void recommended(const char* name, T RatioOptions::*member, const std::string& description) {
    one(name, options_.ratio, member, options_.of_recommended_preset, description,
        "Training, preset recommended");
  }

 private:
  template <class Struct, class T>
  void one(const char* name, Struct& values, T Struct::*member, std::string& used,
           const std::string& description, const char* group) {
    command_
        .add_option_function<T>(
            name,
            [&values, &used, member, name](const T& value) {
              values.*member = value;
              used = name;
            },
            description)
        ->group(group);
  }

  CLI::App& command_;
  Options& options_;
};

void add_training_options(CLI::App& command, Options& options) {
  TrainingOptions add(command, options);
  using M = MlpOptions;
  using R = RatioOptions;
  add.both("--epochs", &M::epochs, &R::epochs, "At most so many epochs");
  add.both("--batch-size", &M::batch_size, &R::batch_size, "Rows per step");
  add.both("--learning-rate", &M::learning_rate, &R::learning_rate,
           "AdamW learning rate: at the start; recommended: at the top of one cycle");
  add.both("--weight-decay", &M::weight_decay, &R::weight_decay, "AdamW decoupled weight decay");
  add.both("--clip-norm", &M::clip_norm, &R::clip_norm, "Gradient clipping, global L2 norm");
  add.both("--validation-fraction", &M::validation_fraction, &R::validation_fraction,
           "Share of the training rows, whole problems per GPU");
  add.both("--seed", &M::seed, &R::seed, "Of split, initial weights, order and noise");
  add.both("--threads", &M::threads, &R::threads,
           "LibTorch threads; another number gives other last digits");
  add.published("--dropout", &M::dropout, "Dropout after each block");
  add.published("--scheduler-factor", &M::scheduler_factor, "Learning rate drop on a plateau");
  add.published("--scheduler-patience", &M::scheduler_patience,
                "Epochs without progress before a drop");
  add.published("--min-learning-rate", &M::min_learning_rate, "Learning rate at which drops end");
  add.published("--patience", &M::early_stopping_patience,
                "Epochs without progress before the end");
  command
      .add_flag("--published-split", options.mlp.published_split,
                "Draw validation rows by row; by default by whole problems per GPU")
      ->group("Training, preset published");
  add.recommended("--members", &R::members, "Networks whose mean is the model (3)");
  add.recommended("--hidden", &R::hidden_widths, "Widths of the hidden layers (128 128 64)");
  add.recommended("--input-noise", &R::input_noise,
                  "Noise on standardised inputs, standard deviation (0.05)");
  add.recommended("--warm-up", &R::warm_up, "Share of the steps before the maximum rate (0.1)");
  command
      .add_flag_function(
          "--no-refit", [&options](std::int64_t) { options.ratio.refit = false; },
          "Keep the fit without the validation rows instead of one on all rows")
      ->group("Training, preset recommended");
}

}  // namespace

void add_mlp_command(CLI::App& parent, std::function<int()>& action) {
  CLI::App* command =
      parent.add_subcommand("mlp", "Fit the published network to profiled durations");
  const auto options = std::make_shared<Options>();
  add_data_options(*command, *options);
  add_analysis_options(*command, *options);
  add_training_options(*command, *options);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
