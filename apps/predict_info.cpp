#include <iostream>
#include <memory>

#include "app.h"
#include "foreign_options.h"
#include "predict.h"
#include "pw/checkpoint.h"

namespace pw {

void add_predict_info(cli::App& app, Action& action) {
  cli::App* info = app.add_subcommand("info", "Print what a checkpoint says about itself");
  const auto file = std::make_shared<std::filesystem::path>();
  const auto foreign = std::make_shared<ForeignModule>();
  info->add_option("file", *file, "Checkpoint (.pt)")->required()->option_text("FILE");
  add_foreign_options(*info, *foreign);
  info->parse_complete_callback([&action, file, foreign] {
    action = [file, foreign] {
      std::cout << record_json(read_checkpoint_record(*file, *foreign)) << '\n';
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace pw
