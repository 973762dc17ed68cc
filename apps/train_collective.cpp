#include "train_collective.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app.h"
#include "collective_report.h"
#include "io/files.h"
#include "io/sha256.h"
#include "pw/collective_errors.h"
#include "pw/data_paths.h"
#include "pw/fields.h"
#include "pw/hardware_catalog.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kCollectives{"all_reduce", "send_recv"};
struct Options {
  fs::path data, output;
  std::string source;
  std::optional<fs::path> hardware;
  CollectiveKind kind = CollectiveKind::monotone;
  std::optional<CallStatistic> statistic;
  std::optional<fs::path> custom;  // durations of the engine's own all_reduce
  std::string custom_source;
  bool compare_forest = false;

  // Medians are free of most stalls; the original's forest is fitted to means.
  CallStatistic fitted_statistic() const {
    return statistic.value_or(kind == CollectiveKind::forest ? CallStatistic::mean
                                                             : CallStatistic::median);
  }
};

FittedFile fit_samples(std::vector<CollectiveSample> samples, const fs::path& path,
                       const HardwareSpec& hardware, std::string_view collective,
                       CollectiveKind kind) {
  FittedFile file;
  file.gpu = hardware.stem;
  file.path = path;
  file.samples = std::move(samples);
  file.model = fit_model(kind, file.samples);
  file.model.hardware = hardware.name;
  file.model.collective = collective;
  file.model.sha256 = sha256_hex(read_file(path));
  file.model.errors = error_table(kind, file.samples);
  file.model.architecture = to_string(hardware.architecture);
  if (hardware.interconnect) {
    file.model.interconnect = to_string(*hardware.interconnect);
  }
  return file;
}

FittedFile fit_file(const fs::path& path, const HardwareSpec& hardware, std::string_view collective,
                    const Options& options) {
  FittedFile file =
      fit_samples(read_collective_samples(path, collective, options.fitted_statistic()), path,
                  hardware, collective, options.kind);
  file.model.source = options.source;
  file.model.statistic = options.fitted_statistic();
  return file;
}

// The engine's own all_reduce: one table of all GPUs, always as monotone curves.
std::vector<FittedFile> fit_custom(const Options& options, const HardwareCatalog& catalog) {
  std::vector<FittedFile> files;
  for (auto& [name, samples] : read_collective_table(*options.custom)) {
    files.push_back(fit_samples(std::move(samples), *options.custom, catalog.get(name),
                                "custom_all_reduce", CollectiveKind::monotone));
    files.back().model.source = options.custom_source;
  }
  return files;
}

std::vector<fs::path> folders_in(const fs::path& data) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(data, error)) {
    if (entry.is_directory()) {
      folders.push_back(entry.path());
    }
  }
  if (error || folders.empty()) {
    throw DataError(data.string() + ": no GPU folder there; expected <GPU>/all_reduce.csv or " +
                    "<GPU>/send_recv.csv");
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<FittedFile> fit_folder(const Options& options, const HardwareCatalog& catalog) {
  std::vector<FittedFile> files;
  for (const fs::path& folder : folders_in(options.data)) {
    const HardwareSpec& hardware = catalog.get(folder.filename().string());
    const std::size_t before = files.size();
    for (const std::string_view collective : kCollectives) {
      const fs::path path = folder / (std::string(collective) + ".csv");
      if (fs::exists(path)) {
        files.push_back(fit_file(path, hardware, collective, options));
      }
    }
    if (files.size() == before) {
      throw DataError(folder.string() + ": neither all_reduce.csv nor send_recv.csv is there");
    }
  }
  return files;
}

int run(const Options& options) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", options.hardware));
  std::vector<FittedFile> files = fit_folder(options, catalog);
  if (options.custom) {
    for (FittedFile& file : fit_custom(options, catalog)) {
      files.push_back(std::move(file));
    }
  }
  std::vector<CollectiveModel> models;
  for (const FittedFile& file : files) {
    models.push_back(file.model);
  }
  write_file_atomic(options.output, collectives_json(models));
  std::cout << error_report(files);
  if (options.compare_forest) {
    std::cout << comparison_report(files);
  }
  return kDone;
}

// An option whose value is the text of one of `choices`.
template <class Target, class Choice, std::size_t N>
void add_choice(cli::App& command, const std::string& name, Target& target,
                const std::array<Choice, N>& choices, const std::string& description) {
  std::vector<std::string> names;
  std::string names_text;
  for (const Choice each : choices) {
    names.emplace_back(to_string(each));
    names_text += (names_text.empty() ? "" : "|") + names.back();
  }
  command
      .add_option_function<std::string>(
          name,
          [&target, choices](const std::string& text) {
            for (const Choice each : choices) {
              if (to_string(each) == text) target = each;
            }
          },
          description)
      ->check(cli::IsMember(names))
      ->option_text(names_text);
}

}  // namespace

void add_collective_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "collective", "Fit models of all_reduce and send_recv to durations of profiled calls");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("--data", options->data,
                   "Folder with <GPU>/all_reduce.csv and <GPU>/send_recv.csv")
      ->required();
  command->add_option("--output", options->output, "JSON file to write")->required();
  command
      ->add_option("--source", options->source,
                   "Where the data comes from and its licence, stored with each model")
      ->required();
  cli::Option* custom = command->add_option(
      "--custom-all-reduce", options->custom,
      "CSV of the engine's own all_reduce: hardware, num_workers, size in bytes, avg_duration_us");
  cli::Option* custom_source = command
                                   ->add_option("--custom-source", options->custom_source,
                                                "Where the CSV comes from and its licence")
                                   ->needs(custom);
  custom->needs(custom_source);
  command->add_option("--hardware", options->hardware, "Folder of the GPU files");
  add_choice(*command, "--model", options->kind,
             std::array{CollectiveKind::monotone, CollectiveKind::forest},
             "monotone: curves that never descend and go on beyond the measured sizes (the "
             "default); forest: the original's");
  add_choice(*command, "--statistic", options->statistic,
             std::array{CallStatistic::median, CallStatistic::mean},
             "Which statistic of the repeated calls is the duration (median; forest: mean)");
  command->add_flag("--compare-forest", options->compare_forest,
                    "Also print the errors of both models on the same folds of the same durations");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
