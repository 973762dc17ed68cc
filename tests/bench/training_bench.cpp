// Prints for scripts/bench, one line each, the core of OpenBLAS and medians in seconds:
//   core       which kernels it runs; "none" without OpenBLAS
//   epoch      one epoch of the published network on the file, validation included
//   products   the matrix products of such an epoch alone, in the same shapes (the limit)
// Usage: training_bench TRAIN.csv EPOCHS

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/openblas_core.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"
#include "pw/trainer.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Forward product, weight gradient and, but for the first layer, input gradient of every batch of
// the training rows; forward products alone of the validation rows.
double products_seconds(std::int64_t width, std::int64_t training_rows,
                        std::int64_t validation_rows) {
  constexpr std::int64_t kBatch = 1024;
  const torch::NoGradGuard no_grad;
  const std::vector<std::int64_t> widths = {width, 256, 128, 64, 1};
  std::vector<torch::Tensor> weights, activations;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    weights.push_back(torch::randn({widths[layer + 1], widths[layer]}));
  }
  for (const std::int64_t each : widths) {
    activations.push_back(torch::randn({kBatch, each}));
  }
  const auto epoch = [&] {
    for (std::int64_t row = 0; row < training_rows + validation_rows; row += kBatch) {
      for (std::size_t layer = 0; layer < weights.size(); ++layer) {
        torch::mm(activations[layer], weights[layer].t());
        if (row < training_rows) {
          torch::mm(activations[layer + 1].t(), activations[layer]);
          if (layer > 0) {
            torch::mm(activations[layer + 1], weights[layer]);
          }
        }
      }
    }
  };
  std::vector<double> seconds;
  for (int i = 0; i < 15; ++i) {
    seconds.push_back(seconds_of(epoch));
  }
  return median_of(seconds);
}

int run(const std::filesystem::path& csv, std::int64_t epochs) {
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", {}));
  const Dataset data = read_dataset({csv}, operator_family("gemm_fp8"), catalog, {});

  const TemporaryFolder folder;
  MlpOptions options;
  options.epochs = epochs;
  std::vector<double> seconds;
  train_mlp(data, nullptr, options, folder.path() / "model.pt",
            [&](const EpochReport& report) { seconds.push_back(report.seconds); });

  const auto rows = static_cast<std::int64_t>(data.rows());
  const std::string core = openblas_core();
  std::cout << "core " << (core.empty() ? "none" : core) << "\nrows " << rows << "\nepoch "
            << median_of(seconds) << "\nproducts "
            << products_seconds(static_cast<std::int64_t>(data.width()), rows - rows / 5, rows / 5)
            << '\n';
  return 0;
}

}  // namespace
}  // namespace pw

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: training_bench TRAIN.csv EPOCHS\n";
    return 2;
  }
  pw::use_fitting_openblas_core();
  return pw::run(argv[1], std::atoll(argv[2]));
}
