// The native engine against LibTorch: the same checkpoint, the same rows.

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "checkpoint_archive.h"
#include "io/csv_table.h"
#include "model/mlp.h"
#include "model/quantile_net.h"
#include "model/script_model.h"
#include "native/native_model.h"
#include "pw/checkpoint.h"
#include "pw/hardware_catalog.h"
#include "pw/model_loader.h"
#include "support/error_of.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr double kSameAsFloat = 2e-4;   // sums in another order
constexpr double kSameAsDouble = 2e-5;  // without rounding between

// The module with all weights in double, which rounds nothing that matters here.
std::vector<double> outputs_in_double(const fs::path& file, const std::string& method,
                                      const std::vector<float>& features, std::size_t width) {
  torch::jit::Module module = torch::jit::load(file.string());
  module.eval();
  module.to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  const auto rows = static_cast<std::int64_t>(features.size() / width);
  const torch::Tensor input =
      torch::tensor(features).view({rows, static_cast<std::int64_t>(width)}).to(torch::kFloat64);
  const torch::Tensor output = module.get_method(method)({input}).toTensor().contiguous();
  return {output.data_ptr<double>(), output.data_ptr<double>() + output.numel()};
}

// As durations see them: log_ratio outputs are logarithms.
double relative_difference(ModelKind kind, double a, double b) {
  return kind == ModelKind::log_ratio ? std::abs(std::expm1(a - b)) : std::abs(a / b - 1);
}

double largest_difference(ModelKind kind, const std::vector<float>& a,
                          const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, relative_difference(kind, a[i], b[i]));
  }
  return largest;
}

std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

void expect_same(const fs::path& file, const std::vector<float>& features) {
  const LoadedModel native = load_model(file, NetworkEngine::native);
  const std::unique_ptr<OperatorModel> torch = load_checkpoint(file);
  const ModelRecord& record = native.model->record();
  const std::size_t width = record.features.size();
  const auto compare = [&](const std::string& method, const std::vector<float>& ours,
                           const std::vector<float>& theirs) {
    SCOPED_TRACE(file.string() + " " + method);
    EXPECT_LE(largest_difference(record.kind, ours, doubles(theirs)), kSameAsFloat);
    const double from_double =
        largest_difference(record.kind, ours, outputs_in_double(file, method, features, width));
    EXPECT_LE(from_double, kSameAsDouble);
    if (std::getenv("PW_SHOW_DIFFERENCES") != nullptr) {
      std::cout << file.filename() << ' ' << method << ": " << from_double
                << " from double, LibTorch "
                << largest_difference(record.kind, theirs,
                                      outputs_in_double(file, method, features, width))
                << '\n';
    }
  };
  compare("forward", native.model->evaluate(features), torch->evaluate(features));
  if (record.quantiles.size() > 1) {
    compare("quantiles", native.model->evaluate_quantiles(features),
            torch->evaluate_quantiles(features));
  }
}

// Within the range of each feature and somewhat beyond.
std::vector<float> random_rows(const ModelRecord& record, std::size_t rows) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> part(-0.1, 1.1);
  std::vector<float> features;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const FeatureRange& range : record.feature_ranges) {
      const bool log = record.kind == ModelKind::efficiency;
      const double low = log ? std::log1p(range.min) : range.min;
      const double high = log ? std::log1p(range.max) : range.max;
      const double value = low + part(generator) * (high - low);
      features.push_back(static_cast<float>(log ? std::max(0.0, std::expm1(value)) : value));
    }
  }
  return features;
}

TEST(NativeEngine, AgreesWithLibTorchOnEveryShippedCheckpoint) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(shipped("checkpoints"))) {
    if (entry.path().extension() != ".pt") continue;
    ++files;
    expect_same(entry.path(), random_rows(read_checkpoint_record(entry.path()), 5000));
  }
  EXPECT_GE(files, 6);
}

class ImportedCheckpoints : public testing::Test {
 protected:
  fs::path import(const std::string& checkpoint, const std::string& name) const {
    const fs::path imported =
        folder_.path() / (fs::path(checkpoint).parent_path().string() + ".pt");
    if (!fs::exists(imported)) import_state_dict(checkpoint, name, imported);
    return imported;
  }
  const TemporaryFolder folder_;
};

TEST_F(ImportedCheckpoints, AgreeWithLibTorch) {
  PW_REFERENCE_OR_SKIP(reference);
  for (const auto& entry : fs::directory_iterator(reference / "checkpoints_upstream")) {
    const std::string folder = entry.path().filename().string();
    const std::string name = folder.substr(0, folder.find("_quantile"));
    for (const auto& file : fs::directory_iterator(entry.path())) {
      if (file.path().extension() != ".pth") continue;
      const fs::path imported = folder_.path() / (folder + ".pt");
      import_state_dict(file.path(), name, imported);
      expect_same(imported, random_rows(read_checkpoint_record(imported), 5000));
    }
  }
}

TEST_F(ImportedCheckpoints, AgreeOnEveryGoldenRow) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", std::nullopt));
  const CsvTable expected = CsvTable::read(reference / "golden" / "predictions.csv");
  std::map<std::string, CsvTable> tables;
  std::map<std::string, std::vector<float>> rows;      // by checkpoint
  std::map<std::string, std::vector<double>> outputs;  // of the original
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < expected.rows(); ++i) {
    const CsvRow row(expected, i);
    const std::string features = row.text("features_file"), checkpoint = row.text("checkpoint");
    if (tables.count(features) == 0) {
      tables.emplace(features, CsvTable::read(reference / "golden" / features));
    }
    names[checkpoint] = row.text("operator");
    const CsvRow problem(tables.at(features), static_cast<std::size_t>(row.integer("row_id")));
    const OperatorFamily& family = operator_family(row.text("operator"));
    const fs::path file = reference / "checkpoints_upstream" / checkpoint;
    const fs::path imported =
        folder_.path() / (fs::path(checkpoint).parent_path().string() + ".pt");
    if (!fs::exists(imported)) import_state_dict(file, names[checkpoint], imported);
    const ModelRecord record = read_checkpoint_record(imported);
    const ModelInput input = model_input(family.read(problem), catalog.get(row.text("hardware")),
                                         ModelKind::efficiency, record.analysis);
    for (const std::size_t column : feature_columns(record, "record")) {
      rows[checkpoint].push_back(static_cast<float>(input.features[column]));
    }
    outputs[checkpoint].push_back(row.number("overall_perf"));
  }
  for (const auto& [checkpoint, features] : rows) {
    const fs::path imported =
        folder_.path() / (fs::path(checkpoint).parent_path().string() + ".pt");
    expect_same(imported, features);
    EXPECT_LE(
        largest_difference(ModelKind::efficiency,
                           load_model(imported, NetworkEngine::native).model->evaluate(features),
                           outputs[checkpoint]),
        kSameAsFloat)
        << checkpoint;
  }
}

}  // namespace
}  // namespace pw
