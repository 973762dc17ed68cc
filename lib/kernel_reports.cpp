#include "kernel_reports.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "io/csv_table.h"
#include "io/files.h"
#include "io/json_file.h"
#include "row_at_line.h"
#include "statistics.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr float kSmallestPrediction = 1e-9f;
constexpr char kPrefix[] = "topk_underperforming_";
constexpr char kSummary[] = "summary.csv";
constexpr std::string_view kDuration = "avg_duration";

struct Kernel {
  std::size_t row;  // in the data set
  float measured, predicted;

  float difference() const { return measured - predicted; }
  float relative_gap() const { return difference() / (predicted + kSmallestPrediction); }
};

// The kernels of one GPU below the threshold, the worst first, equal ones by row.
std::vector<Kernel> underperforming(const Dataset& data, const std::vector<float>& predicted,
                                    std::size_t gpu, double threshold) {
  std::vector<Kernel> kernels;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const Kernel kernel{row, static_cast<float>(data.efficiency[row]),
                        std::max(predicted[row], kSmallestPrediction)};
    if (data.hardware[row] == gpu && kernel.difference() < threshold) {
      kernels.push_back(kernel);
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
    return a.difference() < b.difference();
  });
  return kernels;
}

// The columns of a kernel's row that are shown: its problem and, unless no file calls it so, its
// duration.
std::vector<std::string> shown_columns(const OperatorFamily& family,
                                       const std::vector<CsvTable>& tables) {
  std::vector<std::string> columns(family.problem_columns.begin(), family.problem_columns.end());
  if (std::any_of(tables.begin(), tables.end(), [](const CsvTable& table) {
        return table.find_column(kDuration) != CsvTable::npos;
      })) {
    columns.emplace_back(kDuration);
  }
  return columns;
}

std::string kernels_csv(const std::vector<Kernel>& kernels, std::size_t count, const Dataset& data,
                        const std::vector<CsvTable>& tables) {
  const std::vector<std::string> columns = shown_columns(*data.family, tables);
  std::string csv;
  for (const std::string& name : columns) {
    csv += name + ",";
  }
  csv += "overall_perf,pred_perf,perf_diff,rel_gap\n";
  for (std::size_t i = 0; i < count; ++i) {
    const Kernel& kernel = kernels[i];
    const CsvTable& table = tables[data.file[kernel.row]];
    const std::size_t row = row_at_line(table, data.line[kernel.row]);
    for (const std::string& name : columns) {
      const std::size_t column = table.find_column(name);
      csv += (column == CsvTable::npos ? "" : csv_cell(table.cell(row, column))) + ",";
    }
    csv += python_repr(data.efficiency[kernel.row]) + "," + float32_repr(kernel.predicted) + "," +
           float32_repr(kernel.difference()) + "," + float32_repr(kernel.relative_gap()) + "\n";
  }
  return csv;
}

// Over all kernels below the threshold, not only the listed ones.
std::string summary_line(const std::string& hardware, const std::vector<Kernel>& kernels,
                         std::size_t listed) {
  std::vector<double> differences, gaps;
  for (const Kernel& kernel : kernels) {
    differences.push_back(kernel.difference());
    gaps.push_back(kernel.relative_gap());
  }
  const auto repr = [](double value) { return float32_repr(static_cast<float>(value)); };
  return csv_cell(hardware) + "," + std::to_string(kernels.size()) + "," + repr(mean(differences)) +
         "," + repr(differences.front()) + "," + repr(mean(gaps)) + "," +
         repr(*std::min_element(gaps.begin(), gaps.end())) + "," + std::to_string(listed) + "\n";
}

void remove_earlier_report(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    return;
  }
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == kSummary ||
        (name.compare(0, sizeof kPrefix - 1, kPrefix) == 0 && entry.path().extension() == ".csv")) {
      old.push_back(entry.path());
    }
  }
  for (const fs::path& path : old) {
    fs::remove(path);
  }
}

}  // namespace

void write_kernel_reports(const fs::path& folder, const Dataset& data,
                          const std::vector<fs::path>& paths, const std::vector<float>& predicted,
                          const KernelReportOptions& options) {
  std::vector<CsvTable> tables;
  for (const fs::path& path : paths) {
    tables.push_back(CsvTable::read(path));
  }
  remove_earlier_report(folder);
  std::string summary;
  for (std::size_t gpu = 0; gpu < data.hardware_names.size(); ++gpu) {
    const std::vector<Kernel> kernels = underperforming(data, predicted, gpu, options.threshold);
    if (kernels.empty()) {
      continue;
    }
    const std::size_t listed =
        options.topk ? std::min(kernels.size(), static_cast<std::size_t>(*options.topk))
                     : kernels.size();
    const std::string& hardware = data.hardware_names[gpu];
    write_file_atomic(folder / (kPrefix + hardware + ".csv"),
                      kernels_csv(kernels, listed, data, tables));
    summary += summary_line(hardware, kernels, listed);
  }
  if (!summary.empty()) {
    write_file_atomic(folder / kSummary,
                      "hardware,total_underperforming,avg_perf_diff,min_perf_diff,avg_rel_gap,"
                      "min_rel_gap,topk_count\n" +
                          summary);
  }
}

}  // namespace pw
