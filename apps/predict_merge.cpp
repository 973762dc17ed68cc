#include <iostream>
#include <memory>

#include "app.h"
#include "predict.h"
#include "sweep_file.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<fs::path> shards;
  fs::path output;
};

}  // namespace

void add_predict_merge(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::App* merge = app.add_subcommand(
      "merge", "Join the shards of a sweep: the same bytes as a sweep without shards");
  merge->add_option("shards", arguments->shards, "Outputs of all shards, in any order")
      ->required()
      ->option_text("FILE...");
  merge->add_option("--output", arguments->output, "File to write")
      ->required()
      ->option_text("FILE");
  merge->parse_complete_callback([&action, arguments] {
    action = [arguments]() -> int {
      const std::size_t rows = merge_shards(arguments->shards, arguments->output);
      std::cerr << "wrote " << rows << " rows to " << arguments->output.string() << '\n';
      return kDone;
    };
  });
}

}  // namespace pw
