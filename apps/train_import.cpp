#include "train_import.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app.h"
#include "model/torch_training.h"
#include "option_values.h"
#include "torch_engine.h"

namespace pw {
namespace {

struct Options {
  std::filesystem::path pth, output;
  std::string operator_name;
};

int run(const Options& options) {
  torch_engine("pw-train import")
      .training->import_state_dict(options.pth, options.operator_name, options.output);
  std::cerr << "wrote " << options.output.string() << '\n';
  return kDone;
}

}  // namespace

void add_import_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "import", "Convert a .pth of the original's Python programs to a checkpoint");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("pth", options->pth, "The .pth; its metadata.json must stand in the same folder")
      ->type_name("FILE")
      ->required();
  command->add_option("--operator", options->operator_name, "Operator that the model is of")
      ->check(cli::Check(check_operator_name))
      ->type_name("NAME")
      ->required();
  command->add_option("--output", options->output, "Checkpoint to write")
      ->type_name("FILE")
      ->required();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
