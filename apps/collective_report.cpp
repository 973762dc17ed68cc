#include "collective_report.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>

#include "pw/collective_errors.h"
#include "statistics.h"

namespace pw {
namespace {

std::string pair_text(double left, double right) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << left << '/' << right;
  return text.str();
}

std::string mean_median(const PercentErrors& summary) {
  return pair_text(summary.mean_percent, summary.median_percent);
}

const PercentErrors* find(const std::vector<NamedErrors>& errors, std::string_view name) {
  for (const NamedErrors& each : errors) {
    if (each.name == name) {
      return &each.summary;
    }
  }
  return nullptr;
}

// Knots of the curves or steps of the forest.
std::size_t parts(const CollectiveModel& model) {
  std::size_t count = 0;
  for (const auto& [workers, curve] : model.curves) {
    count += curve.bytes.size();
  }
  if (model.forest) {
    for (const auto& [workers, steps] : model.forest->steps_from_workers) {
      count += steps.duration_us.size();
    }
  }
  return count;
}

std::string size_range(const std::vector<CollectiveSample>& samples) {
  const auto [smallest, largest] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  return std::to_string(smallest->bytes) + ".." + std::to_string(largest->bytes);
}

// A name of a file, further cells, and one cell per name of the error table.
template <class Cell>
void add_line(std::ostream& out, const std::string& gpu, const std::string& collective,
              const std::vector<std::pair<int, std::string>>& cells, Cell error_cell) {
  out << std::left << std::setw(15) << gpu << std::setw(11) << collective << std::right;
  for (const auto& [width, text] : cells) {
    out << std::setw(width) << text;
  }
  for (const std::string& name : error_table_names()) {
    out << std::setw(13) << error_cell(name);
  }
  out << '\n';
}

void add_comparison(std::ostream& out, const std::vector<FittedFile>& files,
                    CallStatistic statistic) {
  out << "\nMonotone model/forest, mean error in %, both fitted to and tested on the "
      << to_string(statistic) << " of the calls:\n";
  add_line(out, "GPU", "collective", {}, [](const std::string& name) { return name; });
  // By collective and name of errors, of all files.
  std::map<std::string, std::map<std::string, std::pair<std::vector<double>, std::vector<double>>>>
      columns;
  for (const FittedFile& file : files) {
    const std::string& collective = file.model.collective;
    const auto samples = read_collective_samples(file.path, collective, statistic);
    const auto monotone = error_table(CollectiveKind::monotone, samples);
    const auto forest = error_table(CollectiveKind::forest, samples);
    add_line(out, file.gpu, collective, {}, [&](const std::string& name) -> std::string {
      const PercentErrors* left = find(monotone, name);
      const PercentErrors* right = find(forest, name);
      if (left == nullptr || right == nullptr) {
        return "-";
      }
      columns[collective][name].first.push_back(left->mean_percent);
      columns[collective][name].second.push_back(right->mean_percent);
      return pair_text(left->mean_percent, right->mean_percent);
    });
  }
  for (const auto& [collective, by_name] : columns) {
    const auto& errors = by_name;
    add_line(out, "mean of files", collective, {}, [&](const std::string& name) -> std::string {
      const auto found = errors.find(name);
      return found == errors.end()
                 ? "-"
                 : pair_text(mean(found->second.first), mean(found->second.second));
    });
  }
}

}  // namespace

std::string error_report(const std::vector<FittedFile>& files) {
  const CollectiveModel& first = files.front().model;
  std::ostringstream out;
  out << "Errors of the " << to_string(first.kind()) << " model on the "
      << to_string(first.statistic)
      << " of the calls, mean/median in %. all, and by message size: 5-fold cross-validation over "
         "rows.\nextrapolated: fitted below 200 MB, tested above 400 MB.\n";
  add_line(out, "GPU", "collective",
           {{6, "rows"}, {7, first.forest ? "steps" : "knots"}, {18, "bytes"}, {13, "in-sample"}},
           [](const std::string& name) { return name; });
  for (const FittedFile& file : files) {
    const auto in_sample = summarise(errors_of(file.model, file.samples));
    add_line(out, file.gpu, file.model.collective,
             {{6, std::to_string(file.samples.size())},
              {7, std::to_string(parts(file.model))},
              {18, size_range(file.samples)},
              {13, mean_median(*in_sample)}},
             [&](const std::string& name) -> std::string {
               const PercentErrors* summary = find(file.model.errors, name);
               return summary == nullptr ? "-" : mean_median(*summary);
             });
  }
  return out.str();
}

std::string comparison_report(const std::vector<FittedFile>& files) {
  std::ostringstream out;
  for (const CallStatistic statistic : {CallStatistic::mean, CallStatistic::median}) {
    add_comparison(out, files, statistic);
  }
  return out.str();
}

}  // namespace pw
