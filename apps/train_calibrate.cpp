#include "train_calibrate.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "app.h"
#include "io/csv_table.h"
#include "pw/calibration.h"
#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string hardware;
  fs::path data;
  std::string source;
  std::optional<fs::path> hardware_folder;
};

std::vector<GemmMeasurement> read_rows(const Options& options, const HardwareSpec& gpu,
                                       const HardwareCatalog& catalog) {
  const CsvTable csv = CsvTable::read(options.data);
  csv.require_no_bad_lines();
  csv.require_columns({"M", "N", "K", "avg_duration", "hardware"});
  if (!options.source.empty()) {
    csv.require_columns({"source"});
  }
  std::vector<GemmMeasurement> rows;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const CsvRow fields(csv, row);
    if (catalog.find(fields.text("hardware")) != &gpu ||
        (!options.source.empty() && fields.text("source") != options.source)) {
      continue;
    }
    const double duration_us = fields.number("avg_duration");
    if (duration_us <= 0) {
      throw DataError(fields.where("avg_duration") + " is " + fields.text("avg_duration") +
                      ", expected microseconds above 0");
    }
    rows.push_back({GemmConfig::read(fields), duration_us});
  }
  if (rows.empty()) {
    throw DataError(options.data.string() + " has no rows of " + gpu.name +
                    (options.source.empty() ? "" : " from source " + options.source));
  }
  return rows;
}

void print_rate(const char* key, const std::optional<SustainedRate>& rate, const char* needed) {
  if (!rate) {
    std::cout << key << ": no row shows it; measure " << needed << '\n';
    return;
  }
  std::cout << '"' << key << "\": " << rate->fraction << "   (" << rate->rows << " rows"
            << (rate->large_rows ? ")\n" : ", smaller than asked for: take more care)\n");
}

int run(const Options& options) {
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", options.hardware_folder));
  const HardwareSpec& gpu = catalog.get(options.hardware);
  const std::vector<GemmMeasurement> rows = read_rows(options, gpu, catalog);
  std::cout << gpu.name << ", " << rows.size() << " GEMMs\n";
  print_rate("sustainedTensorFraction", sustained_tensor_rate(rows, gpu),
             "GEMMs with M, N, K of at least 4096");
  print_rate("sustainedDramFraction", sustained_dram_rate(rows, gpu),
             "GEMMs with M <= 32 and at least 300 MB of weights");
  return kDone;
}

}  // namespace

void add_calibrate_command(CLI::App& parent, std::function<int()>& action) {
  CLI::App* command = parent.add_subcommand(
      "calibrate", "Sustained tensor and DRAM rate of a GPU from measured GEMMs, for its file");
  const auto options = std::make_shared<Options>();
  command->add_option("--hardware", options->hardware, "GPU to calibrate")
      ->option_text("GPU (required)")
      ->required();
  command->add_option("--data", options->data, "CSV with M, N, K, avg_duration (us), hardware")
      ->option_text("FILE (required)")
      ->required();
  command->add_option("--source", options->source, "Use only rows with this value of `source`")
      ->option_text("TEXT");
  command->add_option("--hardware-dir", options->hardware_folder, "Folder of the GPU files")
      ->option_text("FOLDER");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
