#include "train_mlp_options.h"

#include <sstream>

#include "config_file.h"
#include "io/files.h"
#include "option_values.h"

namespace pw {
namespace {

// What only `pw-train mlp` has: how rows are split, and which fit is kept.
void add_split_options(cli::App& command, MlpArguments& options) {
  command
      .add_flag("--published-rules", options.published_rules,
                "As the original: validation rows drawn by row, published FA2 schedule")
      ->group("Model");
  command
      .add_flag("--published-split", options.mlp.published_split,
                "Draw validation rows by row; by default by whole problems per GPU")
      ->group("Training, preset published");
  command
      .add_flag_function(
          "--no-refit", [&options](std::int64_t) { options.ratio.refit = false; },
          "Keep the fit without the validation rows instead of one on all rows")
      ->group("Training, preset recommended");
}

// Further fits that tell how far the model may be off.
void add_band_options(cli::App& command, MlpArguments& options) {
  const std::string group = "Error bands, preset recommended";
  command
      .add_option_function<std::vector<std::string>>(
          "--hold-out-groups",
          [&options](const std::vector<std::string>& columns) {
            options.data.hold_out_by = columns;
            options.of_recommended_preset = "--hold-out-groups";
          },
          "Take the p10-p90 of errors from fits without whole groups of rows with equal cells in "
          "these columns; by default from the validation rows")
      ->type_name("COLUMN,...")
      ->delimiter(',')
      ->group(group);
  command
      .add_option_function<std::int64_t>(
          "--hold-out-folds",
          [&options](std::int64_t folds) {
            options.ratio.hold_out_folds = folds;
            options.of_recommended_preset = "--hold-out-folds";
          },
          "Parts in which the groups are held out in turn (5)")
      ->group(group);
  command
      .add_flag_function(
          "--leave-one-gpu-out",
          [&options](std::int64_t) {
            options.ratio.leave_one_gpu_out = true;
            options.of_recommended_preset = "--leave-one-gpu-out";
          },
          "Fit without each GPU too: the p10-p90 of errors on GPUs that the model does not know")
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
  TrainingOptions(cli::App& command, MlpArguments& options)
      : command_(command), options_(options) {}

  template <class T>
  void both(const char* name, T MlpOptions::*published, T RatioOptions::*recommended,
            const std::string& description) {
    const std::string defaults =
        " (" + default_text(static_cast<double>(options_.mlp.*published)) + "; recommended " +
        default_text(static_cast<double>(options_.ratio.*recommended)) + ")";
    MlpArguments& options = options_;
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
        description + " (" + default_text(static_cast<double>(options_.mlp.*member)) + ")",
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

  cli::App& command_;
  MlpArguments& options_;
};

}  // namespace

void add_fit_options(cli::App& command, MlpArguments& options) {
  TrainingOptions add(command, options);
  using M = MlpOptions;
  using R = RatioOptions;
  add.both("--epochs", &M::epochs, &R::epochs, "At most so many epochs");
  add.both("--batch-size", &M::batch_size, &R::batch_size, "Rows per step");
  add.both("--learning-rate", &M::learning_rate, &R::learning_rate,
           "AdamW learning rate: at the start; recommended: at the top of one cycle");
  add.both("--weight-decay", &M::weight_decay, &R::weight_decay, "AdamW decoupled weight decay");
  add.both("--clip-norm", &M::clip_norm, &R::clip_norm, "Gradient clipping, global L2 norm");
  add.both("--seed", &M::seed, &R::seed, "Of splits, initial weights, order and noise");
  add.both("--threads", &M::threads, &R::threads,
           "LibTorch threads; another number gives other last digits");
  command
      .add_option_function<std::string>(
          "--device",
          [&options](const std::string& text) {
            options.mlp.device = options.ratio.device = parse_device(text);
          },
          "Where the network is trained (cpu)")
      ->check(cli::IsMember({"cpu", "cuda"}))
      ->group("Training");
  add.published("--dropout", &M::dropout, "Dropout after each block");
  add.recommended("--members", &R::members, "Networks whose mean is the model (3)");
  add.recommended("--hidden", &R::hidden_widths, "Widths of the hidden layers (128 128 64)");
  add.recommended("--input-noise", &R::input_noise,
                  "Noise on standardised inputs, standard deviation (0.05)");
  add.recommended("--warm-up", &R::warm_up, "Share of the steps before the maximum rate (0.1)");
}

void add_validation_options(cli::App& command, MlpArguments& options) {
  TrainingOptions add(command, options);
  using M = MlpOptions;
  add.both("--validation-fraction", &M::validation_fraction, &RatioOptions::validation_fraction,
           "Share of the training rows, whole problems per GPU");
  add.published("--scheduler-factor", &M::scheduler_factor, "Learning rate drop on a plateau");
  add.published("--scheduler-patience", &M::scheduler_patience,
                "Epochs without progress before a drop");
  add.published("--min-learning-rate", &M::min_learning_rate, "Learning rate at which drops end");
  add.published("--patience", &M::early_stopping_patience,
                "Epochs without progress before the end");
}

void add_run_options(cli::App& command, MlpArguments& options, const std::string& report) {
  const std::string group = "Run";
  command.add_option("--output", options.output, "Checkpoint to write")
      ->type_name("FILE")
      ->required()
      ->group(group);
  command.add_option("--report", options.report, "Write " + report + " there")
      ->type_name("FOLDER")
      ->group(group);
  command
      .add_option("--save-state", options.control.save_state,
                  "Keep there what is needed to resume, now and then and when stopped by Ctrl-C")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--every", options.control.save_every, "Epochs between two saved states")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--resume", options.control.resume,
                  "Go on from a saved state, with the same options and data")
      ->type_name("FILE")
      ->group(group);
}

void add_preset_option(cli::App& command, MlpArguments& options, const std::string& published,
                       const std::string& recommended) {
  command
      .add_option(
          "--preset", options.preset,
          "published: " + published + "; recommended: " + recommended + " (docs/training.md)")
      ->check(cli::IsMember({"published", "recommended"}))
      ->capture_default_str()
      ->group("Model");
}

void check_arguments(const MlpArguments& arguments) {
  // Before hours of training, not after.
  std::error_code ignored;
  if (std::filesystem::is_directory(arguments.output, ignored)) {
    throw UsageError("--output " + arguments.output.string() +
                     " is a folder, expected the file to write");
  }
  if (arguments.control.save_state) {
    require_different_files(
        {{arguments.output, "--output"}, {*arguments.control.save_state, "--save-state"}});
  }
  if (!arguments.output.empty()) require_writable(arguments.output);  // empty: an evaluation
  if (arguments.control.save_state) require_writable(*arguments.control.save_state);
  const std::string& foreign =
      arguments.recommended() ? arguments.of_published_preset : arguments.of_recommended_preset;
  if (!foreign.empty()) {
    throw UsageError(foreign + " does not belong to --preset " + arguments.preset +
                     ": leave it out or choose the other preset");
  }
}

void add_mlp_options(cli::App& command, MlpArguments& arguments) {
  add_config_option(command);
  add_training_data_options(command, arguments.data);
  add_preset_option(command, arguments, "the original's network and features",
                    "an ensemble on dimensionless features");
  add_fit_options(command, arguments);
  add_validation_options(command, arguments);
  add_split_options(command, arguments);
  add_band_options(command, arguments);
  add_run_options(command, arguments, "metadata.json, loss_curve.csv and worst_cases_top100.csv");
}

void settle_mlp_options(MlpArguments& arguments) {
  check_arguments(arguments);
  if (arguments.published_rules) {
    arguments.data.fa2_schedule = to_string(Fa2Schedule::published);
    arguments.mlp.published_split = true;
  }
  if (arguments.mlp.published_split && !arguments.data.group_by.empty()) {
    throw UsageError(
        "--group-by has no effect on the published split by row: leave out one of them");
  }
}

}  // namespace pw
