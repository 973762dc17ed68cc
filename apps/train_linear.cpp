#include "train_linear.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app.h"
#include "io/files.h"
#include "option_values.h"
#include "pw/data_paths.h"
#include "pw/linear_model.h"
#include "training_progress.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string operator_name;
  std::vector<fs::path> train;
  std::vector<std::string> where;
  std::optional<fs::path> hardware_folder;
  fs::path output;
};

int run(const Options& options) {
  const OperatorFamily& family = operator_family(options.operator_name);
  DatasetOptions dataset;
  dataset.keep_roofline = true;
  for (const std::string& text : options.where) {
    dataset.filters.push_back(parse_row_filter(text));
  }
  const Dataset data = read_dataset(
      options.train, family,
      HardwareCatalog::read(find_data_folder("hardware", options.hardware_folder)), dataset);
  print_data_summary(std::cerr, data, "training data");
  LinearModels models;
  if (fs::exists(options.output)) {
    models = read_linear_models(options.output);
  }
  const LinearModel model = fit_linear(data);
  models[options.operator_name] = model;
  write_file_atomic(options.output, linear_models_json(models));
  std::cout << options.operator_name << ": duration_us = " << model.overhead_us << " + "
            << model.compute << " * compute_us + " << model.dram << " * dram_us\n";
  std::cerr << "wrote " << options.output.string() << '\n';
  return kDone;
}

}  // namespace

void add_linear_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "linear", "Fit the linear baseline: overhead, share of compute time, share of DRAM time");
  const auto options = std::make_shared<Options>();
  command->add_option("--operator", options->operator_name, "gemm, attn, rmsnorm, ...")
      ->check(cli::Check(check_operator_name))
      ->option_text("NAME (required)")
      ->required();
  command->add_option("--train", options->train, "Profiled rows, avg_duration in microseconds")
      ->option_text("CSV... (required)")
      ->required();
  command->add_option("--where", options->where, "Use only rows with column=value or column!=value")
      ->option_text("CONDITION")
      ->take_all()
      ->expected(1);
  command->add_option("--hardware-dir", options->hardware_folder, "Folder of the GPU files")
      ->option_text("FOLDER");
  command
      ->add_option("--output", options->output,
                   "JSON file; models of other operators in it are kept")
      ->option_text("FILE (required)")
      ->required();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
