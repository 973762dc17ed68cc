#include "training_progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>

#include "dropped_rows.h"

namespace pw {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// One column of shares after each label.
void print_shares(std::ostream& stream, const std::string& title,
                  const std::vector<std::string>& columns, const LabelledCoverage& coverage) {
  std::size_t width = 0;
  for (const auto& [label, values] : coverage) {
    width = std::max(width, label.size());
  }
  const std::string padding(width, ' ');
  stream << title << '\n' << padding << "    rows";
  for (const std::string& column : columns) {
    stream << "  " << column;
  }
  stream << '\n';
  for (const auto& [label, c] : coverage) {
    stream << label << padding.substr(label.size())
           << formatted("%8lld", static_cast<long long>(c.rows));
    for (const double share : c.shares) {
      stream << formatted("  %7.2f", 100 * share);
    }
    stream << '\n';
  }
}

}  // namespace

void print_data_summary(std::ostream& stream, const Dataset& data, const char* what) {
  stream << what << ": " << data.rows() << " rows";
  std::vector<std::int64_t> rows(data.hardware_names.size());
  for (const std::uint32_t gpu : data.hardware) {
    ++rows[gpu];
  }
  for (std::size_t gpu = 0; gpu < rows.size(); ++gpu) {
    stream << (gpu == 0 ? " (" : ", ") << data.hardware_names[gpu] << ' ' << rows[gpu];
  }
  stream << ")\n";
  print_dropped(stream, data.dropped, data.rows());
  for (const std::string& note : data.notes) {
    stream << "  note: " << note << '\n';
  }
}

void print_metrics(std::ostream& stream, const LabelledMetrics& metrics) {
  std::size_t width = 0;
  for (const auto& [label, values] : metrics) {
    width = std::max(width, label.size());
  }
  const std::string padding(width, ' ');
  stream << padding << "         | error of overall_perf, %             share of rows, %     "
         << "| error of the duration, %\n"
         << padding << "    rows |   mean  median   95th      max   <10 %  <20 %  <50 %"
         << " |   mean  median   95th    bias  <10 %\n";
  for (const auto& [label, m] : metrics) {
    stream << label << padding.substr(label.size())
           << formatted("%8lld | %6.2f %7.2f %6.2f %8.2f  %6.1f %6.1f %6.1f |",
                        static_cast<long long>(m.rows), 100 * m.mean_relative_error,
                        100 * m.median_relative_error, 100 * m.percentile_95_relative_error,
                        100 * m.max_relative_error, m.accuracy_10_percent, m.accuracy_20_percent,
                        m.accuracy_50_percent);
    for (const auto& [format, value] : {std::pair{" %6.2f", m.duration_mean_relative_error},
                                        {" %7.2f", m.duration_median_relative_error},
                                        {" %6.2f", m.duration_percentile_95_relative_error},
                                        {" %+7.2f", m.duration_bias}}) {
      stream << (value ? formatted(format, 100 * *value) : std::string("       -"));
    }
    stream << (m.duration_accuracy_10_percent ? formatted(" %6.1f", *m.duration_accuracy_10_percent)
                                              : std::string("      -"))
           << '\n';
  }
}

void print_coverage(std::ostream& stream, const ModelRecord& record,
                    const LabelledCoverage& coverage) {
  std::vector<std::string> columns;
  for (const double quantile : record.quantiles) {
    columns.push_back(formatted("q %5.3g", quantile));
  }
  print_shares(stream, "share of rows at or below the predicted performance, %", columns, coverage);
}

void print_band_coverage(std::ostream& stream, const LabelledCoverage& coverage) {
  print_shares(stream, "share of rows within the model's p10 to p90 of errors, %", {"p10-p90"},
               coverage);
}

void print_error_bands(std::ostream& stream, const std::optional<HeldOutErrors>& errors) {
  if (!errors) {
    return;
  }
  std::vector<std::pair<std::string, ErrorBand>> lines{{"all", errors->all}};
  lines.insert(lines.end(), errors->of_gpu.begin(), errors->of_gpu.end());
  std::size_t width = 0;
  for (const auto& [label, band] : lines) {
    width = std::max(width, label.size());
  }
  const std::string padding(width, ' ');
  stream << "measured over predicted duration - 1, held out: " << errors->held_out << '\n'
         << padding << "    rows |  p10 %   p50 %   p90 % | rows within p10-p90, %\n";
  for (const auto& [label, band] : lines) {
    stream << label << padding.substr(label.size())
           << formatted("%8lld | %+6.2f %+7.2f %+7.2f |", static_cast<long long>(band.rows),
                        100 * std::expm1(band.p10), 100 * std::expm1(band.p50),
                        100 * std::expm1(band.p90))
           << (band.coverage ? formatted(" %6.1f", 100 * *band.coverage) : std::string("      -"))
           << '\n';
  }
}

std::string local_time_stamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(
                                now - std::chrono::system_clock::from_time_t(seconds))
                                .count();
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return text + formatted(".%06lld", static_cast<long long>(microseconds));
}

TrainingProgress::TrainingProgress(std::ostream& stream) : line_(stream) {}

void TrainingProgress::show(const EpochReport& report) {
  if (!first_) {
    first_ = report;
  }
  last_ = report;
  if (report.best) {
    best_ = report;
  }
  if (line_.is_due()) {
    print();
  }
}

std::string TrainingProgress::validation() const {
  if (!last_.validation_loss) {
    return "";
  }
  std::string text = formatted(", validation %.5f", *last_.validation_loss);
  if (best_) {  // a resumed run may have had its best before
    text += formatted(" (best %.5f at %lld)", *best_->validation_loss,
                      static_cast<long long>(best_->epoch + 1));
  }
  return text;
}

void TrainingProgress::print() {
  const double seconds_per_epoch =
      line_.seconds() / static_cast<double>(last_.epoch + 1 - first_->epoch);
  const double left = seconds_per_epoch * static_cast<double>(last_.epochs - last_.epoch - 1);
  printed_epoch_ = last_.epoch;
  line_.print(formatted("epoch %lld of at most %lld: loss %.5f",
                        static_cast<long long>(last_.epoch + 1),
                        static_cast<long long>(last_.epochs), last_.train_loss) +
              validation() +
              formatted(", learning rate %.2g, %.2f s per epoch, at most ", last_.learning_rate,
                        last_.seconds) +
              minutes(left) + " left");
}

void TrainingProgress::finish() {
  if (first_ && printed_epoch_ != last_.epoch) {
    print();
  }
  line_.finish();
}

}  // namespace pw
