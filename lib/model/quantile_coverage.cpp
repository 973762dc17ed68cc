#include "model/quantile_coverage.h"

#include <map>
#include <numeric>

#include "metrics.h"
#include "pw/quantile_trainer.h"

namespace pw {
namespace {

// Rows and covered rows of each quantile.
struct Count {
  std::int64_t rows = 0;
  std::vector<double> covered;

  void add(const std::vector<bool>& row) {
    covered.resize(row.size());
    ++rows;
    for (std::size_t i = 0; i < row.size(); ++i) {
      covered[i] += row[i] ? 1 : 0;
    }
  }
  Coverage coverage() const {
    Coverage coverage{rows, covered};
    for (double& share : coverage.shares) {
      share /= static_cast<double>(rows);
    }
    return coverage;
  }
};

}  // namespace

LabelledCoverage coverage_of_rows(const OperatorModel& model, const Dataset& data,
                                  const std::vector<std::int64_t>& rows, const std::string& label) {
  const std::size_t quantiles = model.record().quantiles.size();
  const std::vector<float> outputs =
      model.evaluate_quantiles(model_inputs(model.record(), data, rows));
  Count all;
  std::vector<Count> gpus(data.hardware_names.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    std::vector<bool> covered(quantiles);
    for (std::size_t quantile = 0; quantile < quantiles; ++quantile) {
      const double ceiling_us = duration_us_of(data.options.kind, outputs[i * quantiles + quantile],
                                               data.reference_us[row]);
      covered[quantile] = data.duration_us[row] >= ceiling_us;
    }
    all.add(covered);
    gpus[data.hardware[row]].add(covered);
  }
  LabelledCoverage table;
  if (all.rows > 0) {
    table.emplace_back(label, all.coverage());
  }
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (gpus[gpu].rows > 0) {
      table.emplace_back(label + ": " + data.hardware_names[gpu], gpus[gpu].coverage());
    }
  }
  return table;
}

LabelledCoverage evaluate_coverage(const OperatorModel& model, const Dataset& data,
                                   const std::string& label) {
  std::vector<std::int64_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0);
  return coverage_of_rows(model, data, rows, label);
}

LabelledCoverage pooled(const std::vector<LabelledCoverage>& parts) {
  LabelledCoverage table;
  std::map<std::string, std::size_t> place;
  for (const LabelledCoverage& part : parts) {
    for (const auto& [label, coverage] : part) {
      const auto [found, is_new] = place.try_emplace(label, table.size());
      if (is_new) {
        table.emplace_back(label, coverage);
        continue;
      }
      Coverage& sum = table[found->second].second;
      const auto rows = static_cast<double>(sum.rows + coverage.rows);
      for (std::size_t i = 0; i < sum.shares.size(); ++i) {
        sum.shares[i] = (sum.shares[i] * static_cast<double>(sum.rows) +
                         coverage.shares[i] * static_cast<double>(coverage.rows)) /
                        rows;
      }
      sum.rows += coverage.rows;
    }
  }
  return table;
}

}  // namespace pw
