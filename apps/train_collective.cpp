#include "train_collective.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app.h"
#include "io/files.h"
#include "io/sha256.h"
#include "pw/collective.h"
#include "pw/collective_errors.h"
#include "pw/data_paths.h"
#include "pw/fields.h"
#include "pw/hardware_catalog.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kCollectives{"all_reduce", "send_recv"};
constexpr std::size_t kFolds = 5;
constexpr std::uint32_t kSeed = 42;
constexpr std::int64_t kFitBelowBytes = 200'000'000;
constexpr std::int64_t kTestAboveBytes = 400'000'000;

struct SizeBucket {
  const char* name;
  std::int64_t from_bytes, to_bytes;
};
constexpr std::array<SizeBucket, 5> kBuckets{
    {{"<100KB", 0, 100'000},
     {"0.1-1M", 100'000, 1'000'000},
     {"1-10M", 1'000'000, 10'000'000},
     {"10-100M", 10'000'000, 100'000'000},
     {">100M", 100'000'000, std::numeric_limits<std::int64_t>::max()}}};

struct Options {
  fs::path data, output;
  std::string source;
  std::optional<fs::path> hardware;
};

// One CSV and what was fitted to it.
struct FittedFile {
  std::string gpu;
  std::vector<CollectiveSample> samples;
  CollectiveModel model;
};

FittedFile fit_file(const fs::path& path, const HardwareSpec& hardware, std::string_view collective,
                    const std::string& source) {
  FittedFile file;
  file.gpu = hardware.stem;
  file.samples = read_collective_samples(path, collective);
  file.model.hardware = hardware.name;
  file.model.collective = collective;
  file.model.source = source;
  file.model.sha256 = sha256_hex(read_file(path));
  for (const auto& [workers, samples] : by_workers(file.samples)) {
    file.model.curves.emplace(workers, fit_curve(samples));
  }
  return file;
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

std::vector<FittedFile> fit_folder(const fs::path& data, const HardwareCatalog& catalog,
                                   const std::string& source) {
  std::vector<FittedFile> files;
  for (const fs::path& folder : folders_in(data)) {
    const HardwareSpec& hardware = catalog.get(folder.filename().string());
    const std::size_t before = files.size();
    for (const std::string_view collective : kCollectives) {
      const fs::path path = folder / (std::string(collective) + ".csv");
      if (fs::exists(path)) {
        files.push_back(fit_file(path, hardware, collective, source));
      }
    }
    if (files.size() == before) {
      throw DataError(folder.string() + ": neither all_reduce.csv nor send_recv.csv is there");
    }
  }
  return files;
}

struct FileErrors {
  std::vector<CollectiveError> in_sample, cross_validated, extrapolated;
};

FileErrors errors_of_file(const FittedFile& file) {
  FileErrors all;
  const auto append = [](std::vector<CollectiveError>& to, std::vector<CollectiveError> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const auto& [workers, samples] : by_workers(file.samples)) {
    append(all.in_sample, errors_of(file.model.curves.at(workers), samples));
    append(all.cross_validated, cross_validate(samples, kFolds, kSeed));
    append(all.extrapolated, extrapolation_errors(samples, kFitBelowBytes, kTestAboveBytes));
  }
  return all;
}

std::string mean_median(const std::optional<ErrorSummary>& summary) {
  if (!summary) {
    return "-";
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << summary->mean_percent << '/'
       << summary->median_percent;
  return text.str();
}

void print_row(const std::vector<std::string>& cells) {
  std::cout << std::left << std::setw(15) << cells[0] << std::setw(11) << cells[1] << std::right;
  for (std::size_t i = 2; i < cells.size(); ++i) {
    std::cout << std::setw(i == 4 ? 18 : i < 4 ? 6 : 13) << cells[i];
  }
  std::cout << '\n';
}

void print_file(const FittedFile& file) {
  std::size_t knots = 0;
  for (const auto& [workers, curve] : file.model.curves) {
    knots += curve.bytes.size();
  }
  const auto [smallest, largest] =
      std::minmax_element(file.samples.begin(), file.samples.end(),
                          [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  const FileErrors errors = errors_of_file(file);
  std::vector<std::string> cells{
      file.gpu,
      file.model.collective,
      std::to_string(file.samples.size()),
      std::to_string(knots),
      std::to_string(smallest->bytes) + ".." + std::to_string(largest->bytes),
      mean_median(summarise(errors.in_sample)),
      mean_median(summarise(errors.cross_validated))};
  for (const SizeBucket& bucket : kBuckets) {
    cells.push_back(
        mean_median(summarise(errors.cross_validated, bucket.from_bytes, bucket.to_bytes)));
  }
  cells.push_back(mean_median(summarise(errors.extrapolated)));
  print_row(cells);
}

void print_table(const std::vector<FittedFile>& files) {
  std::cout << "Error of the duration, mean/median in %. cv: 5-fold cross-validation over rows, "
               "all and by message size in bytes.\n"
               "extrapolated: fitted below 200 MB, tested above 400 MB.\n";
  std::vector<std::string> header{"GPU", "collective", "rows", "knots", "bytes", "in-sample", "cv"};
  for (const SizeBucket& bucket : kBuckets) {
    header.emplace_back(bucket.name);
  }
  header.emplace_back("extrapolated");
  print_row(header);
  for (const FittedFile& file : files) {
    print_file(file);
  }
}

int run(const Options& options) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", options.hardware));
  const std::vector<FittedFile> files = fit_folder(options.data, catalog, options.source);
  std::vector<CollectiveModel> models;
  for (const FittedFile& file : files) {
    models.push_back(file.model);
  }
  write_file_atomic(options.output, collectives_json(models));
  print_table(files);
  return kDone;
}

}  // namespace

void add_collective_command(CLI::App& parent, std::function<int()>& action) {
  CLI::App* command = parent.add_subcommand(
      "collective", "Fit duration curves of all_reduce and send_recv to profiled calls");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("--data", options->data,
                   "Folder with <GPU>/all_reduce.csv and <GPU>/send_recv.csv")
      ->required();
  command->add_option("--output", options->output, "JSON file to write")->required();
  command
      ->add_option("--source", options->source,
                   "Where the data comes from and its licence, stored with each curve")
      ->required();
  command->add_option("--hardware", options->hardware, "Folder of the GPU files");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
