#include <iostream>
#include <memory>

#include "app.h"
#include "predict.h"
#include "pw/checkpoint.h"

namespace pw {

void add_predict_info(CLI::App& app, Action& action) {
  CLI::App* info = app.add_subcommand("info", "Print what a checkpoint says about itself");
  const auto file = std::make_shared<std::filesystem::path>();
  info->add_option("file", *file, "Checkpoint (.pt)")->required()->option_text("FILE");
  info->parse_complete_callback([&action, file] {
    action = [file] {
      std::cout << record_json(read_checkpoint_record(*file)) << '\n';
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace pw
