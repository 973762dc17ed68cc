#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli.h"
#include "pw/trainer.h"
#include "training_data.h"

namespace pw {

// The command line of `pw-train mlp`.
struct MlpArguments {
  TrainingDataArguments data;
  std::filesystem::path output;
  std::optional<std::filesystem::path> report;
  bool published_rules = false;
  std::string preset = "published";
  MlpOptions mlp;
  RatioOptions ratio;
  RunControl control;
  std::string of_published_preset, of_recommended_preset;  // an option that was given, or empty

  bool recommended() const { return preset == "recommended"; }
};

// Groups of options that other commands of pw-train share. Defaults are those in `arguments` at the
// call.
void add_preset_option(cli::App& command, MlpArguments& arguments, const std::string& published,
                       const std::string& recommended);  // what each one stands for
void add_fit_options(cli::App& command, MlpArguments& arguments);
void add_validation_options(cli::App& command, MlpArguments& arguments);
void add_run_options(cli::App& command, MlpArguments& arguments,
                     const std::string& report);  // the files of the report
// Throws DataError for an option of the other preset and for an output that is a folder.
void check_arguments(const MlpArguments& arguments);

void add_mlp_options(cli::App& command, MlpArguments& arguments);

// Throws DataError for options that do not go together, then lets --published-rules set what it
// stands for.
void settle_mlp_options(MlpArguments& arguments);

}  // namespace pw
