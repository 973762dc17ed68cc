#include "train_copies.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include "app.h"
#include "model/torch_training.h"
#include "torch_engine.h"

namespace pw {
namespace {

struct Options {
  std::filesystem::path checkpoint, output;
  double copies = 0;
};

int run(const Options& options) {
  torch_engine("pw-train copies")
      .training->record_operand_copies(options.checkpoint, options.copies, options.output);
  std::cerr << "wrote " << options.output.string() << '\n';
  return kDone;
}

}  // namespace

void add_copies_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "copies",
      "Tell a checkpoint that was trained before records told it how many sets of operands its "
      "training rows used in turn; the network stays as it is");
  const auto options = std::make_shared<Options>();
  command->add_option("checkpoint", options->checkpoint, "The checkpoint (.pt)")
      ->type_name("FILE")
      ->required();
  command->add_option("--weight-copies", options->copies, "As given to pw-train mlp")
      ->type_name("N")
      ->required();
  command->add_option("--output", options->output, "Checkpoint to write; may be the same file")
      ->type_name("FILE")
      ->required();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
