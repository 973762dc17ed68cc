// Prints, for scripts/bench, the median seconds of reading a CSV of gemm_fp8 rows, from the file to
// the features of all its rows:
//   read       read_dataset as pw-train calls it
//   table      the table of its cells alone
// Usage: reading_bench TRAIN.csv REPEATS

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include "io/csv_table.h"
#include "pw/data_paths.h"
#include "pw/dataset.h"

namespace pw {
namespace {

template <class Work>
double median_seconds(int repeats, const Work& work) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void run(const std::filesystem::path& csv, int repeats) {
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", {}));
  const OperatorFamily& family = operator_family("gemm_fp8");
  std::cout << "read " << median_seconds(repeats, [&] { read_dataset({csv}, family, catalog, {}); })
            << "\ntable " << median_seconds(repeats, [&] { CsvTable::read(csv); }) << '\n';
}

}  // namespace
}  // namespace pw

int main(int argc, char** argv) {
  if (argc != 3 || std::atoi(argv[2]) < 1) {
    std::cerr << "usage: reading_bench TRAIN.csv REPEATS\n";
    return 2;
  }
  pw::run(argv[1], std::atoi(argv[2]));
}
