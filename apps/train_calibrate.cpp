#include "train_calibrate.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app.h"
#include "option_values.h"
#include "pw/calibration.h"
#include "pw/data_paths.h"
#include "pw/gemm.h"
#include "pw/hardware_catalog.h"
#include "pw/operators.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string hardware;
  fs::path data;
  std::string family = "gemm";
  std::string reference;
  std::string source;
  std::optional<fs::path> hardware_folder;
};

// Why a fraction cannot go into the file.
std::string objection(double fraction, const char* question) {
  return fraction > 1 ? std::string("  NOT to be used: above 1; ") + question + "\n" : "";
}

void print_rate(const char* key, const std::optional<SustainedRate>& rate, const char* needed) {
  if (!rate) {
    std::cout << key << ": no row shows it; measure " << needed << '\n';
    return;
  }
  std::cout << '"' << key << "\": " << rate->fraction << "   (" << rate->rows << " rows"
            << (rate->large_rows ? ")\n" : ", smaller than asked for: take more care)\n")
            << objection(rate->fraction, "is avg_duration in us, and the nominal rate right?");
}

void calibrate_by_gemms(const GpuMeasurements& measured) {
  std::vector<GemmMeasurement> rows;
  for (const GpuMeasurements::Row& row : measured.rows) {
    rows.push_back({std::get<GemmConfig>(row.config), row.duration_us});
  }
  std::cout << measured.hardware->name << ", " << rows.size() << " GEMMs\n";
  print_rate("sustainedTensorFraction", sustained_tensor_rate(rows, *measured.hardware),
             "GEMMs with M, N, K of at least 4096");
  print_rate("sustainedDramFraction", sustained_dram_rate(rows, *measured.hardware),
             "GEMMs with M <= 32 and at least 300 MB of weights");
}

void print_relative(const char* key, const std::optional<RelativeRate>& rate,
                    const std::optional<double>& known, const HardwareSpec& reference) {
  if (!rate || !known) {
    std::cout << key
              << (rate ? ": the file of the reference has none: calibrate it first\n"
                       : ": no problem in the file shows it on both\n");
    return;
  }
  std::cout << '"' << key << "\": " << *known * rate->ratio << "   (" << rate->ratio << " of the "
            << reference.name << "'s " << *known << "; median of " << rate->problems
            << " problems, half of them " << rate->low << " to " << rate->high << ")\n"
            << objection(*known * rate->ratio, "the reference is no relative of this GPU");
}

void calibrate_by_relative(const GpuMeasurements& measured, const GpuMeasurements& reference) {
  std::cout << measured.hardware->name << " beside " << reference.hardware->name << '\n';
  print_relative("sustainedTensorFraction", relative_tensor_rate(measured, reference),
                 reference.hardware->sustained_tensor_fraction, *reference.hardware);
  print_relative("sustainedDramFraction", relative_dram_rate(measured, reference),
                 reference.hardware->sustained_dram_fraction, *reference.hardware);
}

int run(const Options& options) {
  const OperatorFamily& family = operator_family(options.family);
  if (options.family != "gemm" && options.reference.empty()) {
    throw UsageError("--operator " + options.family +
                     " needs --reference: rates come from GEMMs, or from what another GPU with "
                     "known rates does on the same rows");
  }
  const HardwareCatalog catalog =
      HardwareCatalog::read(find_data_folder("hardware", options.hardware_folder));
  const HardwareSpec& gpu = asked_gpu(catalog, options.hardware);
  const MeasuredFile file(options.data, family, options.source);
  const GpuMeasurements measured = file.rows_of(gpu, catalog);
  if (options.reference.empty()) {
    calibrate_by_gemms(measured);
    return kDone;
  }
  const HardwareSpec& reference = asked_gpu(catalog, options.reference);
  if (&reference == &gpu) {
    throw UsageError("--reference is the GPU to calibrate: name another one, with known rates");
  }
  calibrate_by_relative(measured, file.rows_of(reference, catalog));
  return kDone;
}

}  // namespace

void add_calibrate_command(cli::App& parent, std::function<int()>& action) {
  cli::App* command = parent.add_subcommand(
      "calibrate",
      "Sustained tensor and DRAM rate of a GPU for its file: from measured GEMMs, or from another "
      "operator beside a GPU whose rates are known");
  const auto options = std::make_shared<Options>();
  command->add_option("--hardware", options->hardware, "GPU to calibrate")
      ->option_text("GPU (required)")
      ->required();
  command
      ->add_option("--data", options->data, "CSV of problems with avg_duration (us) and hardware")
      ->option_text("FILE (required)")
      ->required();
  command->add_option("--operator", options->family, "Operator of the rows (default: gemm)")
      ->check(cli::Check(check_operator_name))
      ->option_text("NAME");
  command
      ->add_option("--reference", options->reference,
                   "GPU with known rates and rows of the same problems: one with the same chip, or "
                   "both with a capped tensor rate")
      ->option_text("GPU");
  command->add_option("--source", options->source, "Use only rows with this value of `source`")
      ->option_text("TEXT");
  command->add_option("--hardware-dir", options->hardware_folder, "Folder of the GPU files")
      ->option_text("FOLDER");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace pw
