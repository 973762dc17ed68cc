#include <iostream>
#include <memory>

#include "app.h"
#include "compare.h"
#include "io/text.h"
#include "pw/data_paths.h"
#include "pw/prediction_diff.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  fs::path a, b;
  std::optional<fs::path> hardware_folder;
};

int show_difference(const Arguments& arguments) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", arguments.hardware_folder));
  const auto warn = [](const std::string& text) {
    std::cerr << "warning: " << one_line(text) << '\n';
  };
  std::cout << prediction_diff_text(read_prediction_file(arguments.a, catalog, warn),
                                    read_prediction_file(arguments.b, catalog, warn));
  return kDone;
}

}  // namespace

void add_compare_diff(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::App* diff =
      app.add_subcommand("diff", "What changed between two predictions, per operator and phase");
  diff->add_option("A", arguments->a, "Prediction (JSON)")->required()->option_text("A.json");
  diff->add_option("B", arguments->b, "Prediction (JSON)")->required()->option_text("B.json");
  diff->add_option("--hardware-dir", arguments->hardware_folder, "Folder of GPU specs (*.json)")
      ->option_text("FOLDER");
  diff->parse_complete_callback(
      [&action, arguments] { action = [arguments] { return show_difference(*arguments); }; });
}

}  // namespace pw
