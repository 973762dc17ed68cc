#include "io/csv_table.h"
#include "pw/collective.h"

namespace pw {
namespace {

CollectiveSample read_sample(const CsvRow& row, const std::string& duration_column) {
  CollectiveSample sample;
  sample.bytes = integer_at_least(row, "size", 1);
  sample.workers = integer_at_least(row, "num_workers", 2);
  const double duration_ms = row.number(duration_column);
  if (!(duration_ms > 0)) {
    throw DataError(row.where(duration_column) + ": found " + row.text(duration_column) +
                    "; expected a duration above 0 ms");
  }
  sample.duration_us = duration_ms * 1e3;
  return sample;
}

}  // namespace

std::vector<CollectiveSample> read_collective_samples(const std::filesystem::path& path,
                                                      std::string_view collective,
                                                      CallStatistic statistic) {
  check_collective(collective);
  const CsvTable table = CsvTable::read(path);
  table.require_no_bad_lines();
  const std::string duration_column =
      "time_stats." + std::string(collective) + "." + std::string(to_string(statistic));
  table.require_columns({"size", "num_workers", duration_column});
  if (table.rows() == 0) {
    throw DataError(path.string() + ": no row under the header; expected one per measured call");
  }
  std::vector<CollectiveSample> samples;
  samples.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    samples.push_back(read_sample(CsvRow(table, row), duration_column));
  }
  return samples;
}

std::map<std::string, std::vector<CollectiveSample>> read_collective_table(
    const std::filesystem::path& path) {
  const std::string duration_column = "avg_duration_us";
  const CsvTable table = CsvTable::read(path);
  table.require_no_bad_lines();
  table.require_columns({"hardware", "size", "num_workers", duration_column});
  if (table.rows() == 0) {
    throw DataError(path.string() + ": no row under the header; expected one per measured size");
  }
  std::map<std::string, std::vector<CollectiveSample>> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const CsvRow fields(table, row);
    CollectiveSample sample{integer_at_least(fields, "size", 1),
                            integer_at_least(fields, "num_workers", 2),
                            fields.number(duration_column)};
    if (!(sample.duration_us > 0)) {
      throw DataError(fields.where(duration_column) + ": found " + fields.text(duration_column) +
                      "; expected a duration above 0 us");
    }
    samples[fields.text("hardware")].push_back(sample);
  }
  return samples;
}

SamplesByWorkers by_workers(const std::vector<CollectiveSample>& samples) {
  SamplesByWorkers groups;
  for (const CollectiveSample& sample : samples) {
    groups[sample.workers].push_back(sample);
  }
  return groups;
}

}  // namespace pw
