#include <iostream>
#include <memory>

#include "app.h"
#include "compare.h"
#include "io/files.h"
#include "pw/data_paths.h"
#include "pw/operator_errors.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  fs::path predicted;
  std::optional<fs::path> measured, output, hardware_folder;
};

void require_own_output(const Arguments& arguments) {
  if (!arguments.output) return;
  const auto refuse_if_same = [&](const char* option, const fs::path& input) {
    std::error_code absent;  // a new output is no input; an absent input is reported when read
    if (fs::equivalent(input, *arguments.output, absent)) {
      throw UsageError("--output " + arguments.output->string() + " is the file of " + option +
                       ", which it would overwrite: expected another path");
    }
  };
  refuse_if_same("--pred", arguments.predicted);
  if (arguments.measured) refuse_if_same("--real", *arguments.measured);
}

int compare_rows(const Arguments& arguments) {
  require_own_output(arguments);
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", arguments.hardware_folder));
  const OperatorErrors errors = compare_operators(arguments.predicted, arguments.measured, catalog);
  std::cout << operator_errors_text(errors);
  if (arguments.output) {
    write_file_atomic(*arguments.output, operator_errors_csv(errors));
    std::cerr << "wrote " << arguments.output->string() << '\n';
  }
  return kDone;
}

}  // namespace

void add_compare_operators(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::App* operators =
      app.add_subcommand("operators", "Errors of predicted operator durations, by GPU and by size");
  operators
      ->add_option("--pred", arguments->predicted,
                   "CSV of pw-predict operators, with predicted_duration_us")
      ->required()
      ->option_text("FILE");
  operators
      ->add_option("--real", arguments->measured,
                   "CSV with the problem's columns and avg_duration (us); default: --pred has "
                   "that column too")
      ->option_text("FILE");
  operators->add_option("--output", arguments->output, "The table as CSV")->option_text("FILE");
  operators
      ->add_option("--hardware-dir", arguments->hardware_folder, "Folder of GPU specs (*.json)")
      ->option_text("FOLDER");
  operators->parse_complete_callback(
      [&action, arguments] { action = [arguments] { return compare_rows(*arguments); }; });
}

}  // namespace pw
