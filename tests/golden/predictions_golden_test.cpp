#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "io/csv_table.h"
#include "pw/checkpoint.h"
#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"
#include "pw/operators.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

// float32 sums in another order differ by up to 8.4e-5 from the original's.
constexpr double kTolerance = 2e-4;

class Predictor {
 public:
  explicit Predictor(fs::path reference)
      : reference_(std::move(reference)),
        catalog_(HardwareCatalog::read(find_data_folder("hardware", std::nullopt))) {}

  // Checks one row of predictions.csv.
  void check(const CsvRow& expected) {
    const std::string name = expected.text("operator");
    const HardwareSpec& hardware = catalog_.get(expected.text("hardware"));
    const CsvTable& rows = features_file(expected.text("features_file"));
    const OperatorModel& model = this->model(name, expected.text("checkpoint"));
    const CsvRow row(rows, static_cast<std::size_t>(expected.integer("row_id")));
    ASSERT_EQ(row.integer("row_id"), expected.integer("row_id"));

    const OperatorConfig config = operator_family(name).read(row);
    const ModelInput found =
        model_input(config, hardware, ModelKind::efficiency, model.record().analysis);
    std::vector<float> input;
    for (const std::size_t column : feature_columns(model.record(), name)) {
      input.push_back(static_cast<float>(found.features[column]));
    }
    const double efficiency = model.evaluate(input)[0];
    const double expected_efficiency = expected.number("overall_perf");
    EXPECT_NEAR(efficiency / expected_efficiency, 1, kTolerance) << describe(config);
    const double duration_us =
        duration_us_of(ModelKind::efficiency, efficiency, found.reference_us);
    EXPECT_NEAR(duration_us / expected.number("duration_us"), 1, kTolerance) << describe(config);
    // Without the network's own rounding the durations agree almost to the last digit.
    EXPECT_NEAR(duration_us_of(ModelKind::efficiency, expected_efficiency, found.reference_us) /
                    expected.number("duration_us"),
                1, 1e-12)
        << describe(config);
    EXPECT_EQ(is_in_range(model.record(), input), expected.flag("in_train_range"))
        << describe(config);
  }

 private:
  static bool is_in_range(const ModelRecord& record, const std::vector<float>& input) {
    for (std::size_t i = 0; i < input.size(); ++i) {
      const FeatureRange& range = record.feature_ranges[i];
      if (input[i] < range.min || input[i] > range.max) {
        return false;
      }
    }
    return true;
  }
  const CsvTable& features_file(const std::string& name) {
    auto found = tables_.find(name);
    if (found == tables_.end()) {
      found = tables_.emplace(name, CsvTable::read(reference_ / "golden" / name)).first;
    }
    return found->second;
  }
  const OperatorModel& model(const std::string& name, const std::string& checkpoint) {
    std::unique_ptr<OperatorModel>& model = models_[checkpoint];
    if (!model) {
      const fs::path imported = folder_.path() / (name + ".pt");
      import_state_dict(reference_ / "checkpoints_upstream" / checkpoint, name, imported);
      model = load_checkpoint(imported);
    }
    return *model;
  }

  fs::path reference_;
  HardwareCatalog catalog_;
  TemporaryFolder folder_;
  std::map<std::string, CsvTable> tables_;
  std::map<std::string, std::unique_ptr<OperatorModel>> models_;
};

TEST(PredictionsGolden, ImportedCheckpointsPredictAsTheOriginal) {
  PW_REFERENCE_OR_SKIP(reference);
  const CsvTable expected = CsvTable::read(reference / "golden" / "predictions.csv");
  ASSERT_GT(expected.rows(), 200u);
  Predictor predictor(reference);
  for (std::size_t row = 0; row < expected.rows(); ++row) {
    predictor.check(CsvRow(expected, row));
  }
}

}  // namespace
}  // namespace pw
