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
// Some published networks amplify any rounding; then ours may not be much more than LibTorch's.
constexpr double kAsGoodAsTorch = 3;

// Below it the relative error of a sigmoid is the absolute one of a large logit.
constexpr double kSmallestEfficiency = 1e-4;

// The module with all weights in double, which rounds nothing that matters here.
std::vector<double> outputs_in_double(const fs::path& file, const std::string& method,
                                      const std::vector<float>& features, std::size_t width) {
  torch::jit::Module module = torch::jit::load(file.string());
  module.eval();
  const torch::NoGradGuard no_grad;
  const auto to_double = [](torch::Tensor tensor) {
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(torch::kFloat64));
  };
  for (const torch::Tensor& parameter : module.parameters()) to_double(parameter);
  for (const torch::Tensor& buffer : module.buffers()) to_double(buffer);
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
    if (kind == ModelKind::efficiency && b[i] < kSmallestEfficiency) continue;
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
    const std::vector<double> exact = outputs_in_double(file, method, features, width);
    const double our_error = largest_difference(record.kind, ours, exact);
    const double their_error = largest_difference(record.kind, theirs, exact);
    EXPECT_LE(largest_difference(record.kind, ours, doubles(theirs)), kSameAsFloat);
    EXPECT_LE(our_error, std::max(kSameAsDouble, kAsGoodAsTorch * their_error))
        << "LibTorch in float32: " << their_error;
  };
  compare("forward", native.model->evaluate(features), torch->evaluate(features));
  if (record.quantiles.size() > 1) {
    compare("quantiles", native.model->evaluate_quantiles(features),
            torch->evaluate_quantiles(features));
  }
}

class RandomProblems {
 public:
  OperatorConfig next(const ModelRecord& record) {
    const std::string& family = record.operator_name;
    if (family == GemmConfig::kName) return GemmConfig{size(1, 16384), width(), width()};
    if (family == Fp8GemmConfig::kName) return Fp8GemmConfig{size(1, 16384), width(), width()};
    if (family == RmsNormConfig::kName) return RmsNormConfig{size(1, 32768), width()};
    if (family == SiluMulConfig::kName) return SiluMulConfig{size(1, 32768), width()};
    if (family == MoeConfig::kName) {
      const std::int64_t experts = size(8, 128);
      return MoeConfig{MoeConfig::Pass::w13, size(1, 8192), experts, size(1, 8), width(), width()};
    }
    return attention(record.attention_layout);
  }

 private:
  // Small ones as often as large ones.
  std::int64_t size(std::int64_t least, std::int64_t most) {
    std::uniform_real_distribution<double> log(std::log(static_cast<double>(least)),
                                               std::log(static_cast<double>(most)));
    return std::llround(std::exp(log(generator_)));
  }
  std::int64_t width() { return 64 * size(8, 256); }
  OperatorConfig attention(const std::string& layout) {
    AttentionConfig attention;
    const bool paged = layout == "paged" || (layout.empty() && size(1, 100) > 10);
    attention.layout = paged ? KvLayout::paged : KvLayout::ragged;
    attention.kv_heads = size(1, 16);
    attention.query_heads = attention.kv_heads * size(1, 8);
    attention.head_dim = 128;
    for (std::int64_t left = size(1, 64); left > 0; --left) {
      attention.kv_lengths.push_back(size(16, 8192));
      attention.q_lengths.push_back(paged ? 1 : attention.kv_lengths.back());
    }
    return attention;
  }

  std::mt19937 generator_{7};
};

bool in_range(const ModelRecord& record, const std::vector<float>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const FeatureRange& range = record.feature_ranges[i];
    if (row[i] < range.min || row[i] > range.max) return false;
  }
  return true;
}

// Features of random problems on all GPUs that have them; of efficiency models those within the
// ranges of training alone.
std::vector<float> random_rows(const ModelRecord& record, std::size_t rows) {
  static const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const std::vector<std::size_t> columns = feature_columns(record, "record");
  RandomProblems problems;
  std::vector<float> features;
  for (std::size_t tries = 0; features.size() < rows * columns.size(); ++tries) {
    EXPECT_LT(tries, 1000 * rows);
    const HardwareSpec& gpu = catalog.all()[tries % catalog.all().size()];
    if (record.operator_name == Fp8GemmConfig::kName && gpu.tensor_fp8_ops_per_cycle_sm == 0) {
      continue;
    }
    const ModelInput input = model_input(problems.next(record), gpu, record.kind, record.analysis);
    std::vector<float> row;
    for (const std::size_t column : columns) {
      row.push_back(static_cast<float>(input.features[column]));
    }
    if (record.kind == ModelKind::log_ratio || in_range(record, row)) {
      features.insert(features.end(), row.begin(), row.end());
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

ModelRecord gemm_record(ModelKind kind) {
  ModelRecord record;
  record.operator_name = "gemm";
  record.kind = kind;
  record.features = feature_names(operator_family("gemm"), kind);
  return record;
}

// Networks that training can write, with invented weights.
class WrittenNetworks : public testing::Test {
 protected:
  WrittenNetworks() { torch::manual_seed(3); }

  RatioScaling scaling() const {
    const auto width = static_cast<std::int64_t>(record_.features.size());
    return {torch::full({width}, -1.0f),
            torch::full({width}, 12.0f),
            torch::rand({width}),
            torch::rand({width}) + 0.5f,
            -0.5,
            0.5};
  }
  std::vector<RatioNet> members(int count, const std::vector<std::int64_t>& hidden,
                                std::int64_t outputs) const {
    std::vector<RatioNet> nets;
    for (int i = 0; i < count; ++i) {
      nets.emplace_back(static_cast<std::int64_t>(record_.features.size()), hidden, outputs);
    }
    return nets;
  }
  fs::path written(const torch::jit::Module& module, const ModelRecord& record) const {
    return folder_.file("m.pt", checkpoint_bytes(module, record));
  }

  const TemporaryFolder folder_;
  const ModelRecord record_ = gemm_record(ModelKind::log_ratio);
};

TEST_F(WrittenNetworks, AnyNumberOfMembersAndLayers) {
  const std::vector<float> rows = random_rows(record_, 300);
  for (const int count : {1, 2, 5}) {
    for (const std::vector<std::int64_t>& hidden :
         {std::vector<std::int64_t>{}, {7}, {33, 130}, {16, 16, 16, 16}}) {
      expect_same(written(to_torch_script(members(count, hidden, 1), scaling()), record_), rows);
    }
  }
}

TEST_F(WrittenNetworks, QuantilesWithShiftsOfGpusAndWithout) {
  const std::vector<float> rows = random_rows(record_, 300);
  const auto width = static_cast<std::int64_t>(record_.features.size());
  const torch::Tensor features =
      torch::tensor(rows).view({static_cast<std::int64_t>(rows.size()) / width, width});
  for (const std::int64_t outputs : {1, 2, 4}) {
    ModelRecord record = record_;
    for (std::int64_t i = 0; i < outputs; ++i) {
      record.quantiles.push_back(0.5 + 0.1 * static_cast<double>(i));
    }
    record.output_quantile = record.quantiles.back();
    QuantileCalibration calibration;
    calibration.shifts = torch::rand({1, outputs});
    const auto check = [&] {
      expect_same(
          written(quantile_script(members(2, {20}, outputs), scaling(), calibration, outputs - 1),
                  record),
          rows);
    };
    check();
    calibration.columns = {2, 5};
    calibration.keys = features.slice(0, 0, 3).index_select(1, torch::tensor({2, 5}));
    calibration.shifts = torch::randn({4, outputs});
    check();
  }
}

TEST_F(WrittenNetworks, ThePublishedOne) {
  const ModelRecord record = gemm_record(ModelKind::efficiency);
  Mlp mlp(static_cast<std::int64_t>(record.features.size()));
  for (const torch::Tensor& buffer : mlp->buffers()) {
    if (buffer.is_floating_point()) buffer.uniform_(0.1, 2);
  }
  mlp->eval();
  std::vector<float> rows;
  for (int i = 0; i < 1100; ++i) rows.push_back(static_cast<float>(std::exp(i % 37)));
  expect_same(written(to_torch_script(*mlp), record), rows);
}

// A module of another kind is evaluated by LibTorch, in its library.
TEST_F(WrittenNetworks, OthersNeedLibTorch) {
  torch::jit::Module module("__torch__.Foreign");
  const auto width = static_cast<std::int64_t>(record_.features.size());
  module.register_parameter("weight", torch::rand({1, width}), false);
  module.define(
      "def forward(self, features: Tensor) -> Tensor:\n"
      "    return torch.tanh(torch.linear(features, self.weight)).squeeze(1)\n");
  const fs::path file = written(module, record_);
  EXPECT_THAT(error_of([&] { load_model(file, NetworkEngine::native); }),
              HasSubstr("does not know this network"));
  const std::vector<float> rows = random_rows(record_, 10);
  const std::vector<float> expected = load_checkpoint(file)->evaluate(rows);
  EXPECT_EQ(load_model(file).model->evaluate(rows), expected);
  EXPECT_EQ(load_model(file, NetworkEngine::torch).model->evaluate(rows), expected);
  EXPECT_EQ(load_model(file).model->members(), 1u);
}

TEST_F(WrittenNetworks, RecordsOfOtherNetworksAreRefused) {
  ModelRecord record = record_;
  record.features.pop_back();
  const auto script = to_torch_script(members(1, {4}, 1), scaling());
  const std::string width = std::to_string(record_.features.size());
  EXPECT_THAT(error_of([&] { load_model(written(script, record), NetworkEngine::native); }),
              HasSubstr("the model expects " + width + " features, gemm has "));
  record = record_;
  record.quantiles = {0.5, 0.8};
  record.output_quantile = 0.8;
  EXPECT_THAT(error_of([&] { load_model(written(script, record), NetworkEngine::native); }),
              HasSubstr("the model gives 1 quantiles, its record lists 2"));
  const auto broken = members(1, {4}, 1);
  {
    const torch::NoGradGuard no_grad;
    broken[0]->parameters()[0][0][0] = std::nan("");
  }
  EXPECT_THAT(error_of([&] {
                load_model(written(to_torch_script(broken, scaling()), record_),
                           NetworkEngine::native);
              }),
              HasSubstr("'member0.weight0' holds a value that is not finite"));
}

class ImportedCheckpoints : public testing::Test {
 protected:
  // `pth`: "<family>[_quantile]/<name>.pth" of the published checkpoints.
  fs::path import(const fs::path& pth) const {
    const std::string folder = pth.parent_path().filename().string();
    const fs::path imported = folder_.path() / (folder + ".pt");
    if (!fs::exists(imported)) {
      import_state_dict(pth, folder.substr(0, folder.find("_quantile")), imported);
    }
    return imported;
  }
  const TemporaryFolder folder_;
};

TEST_F(ImportedCheckpoints, AgreeWithLibTorch) {
  PW_REFERENCE_OR_SKIP(reference);
  for (const auto& entry : fs::directory_iterator(reference / "checkpoints_upstream")) {
    for (const auto& file : fs::directory_iterator(entry.path())) {
      if (file.path().extension() != ".pth") continue;
      const fs::path imported = import(file.path());
      expect_same(imported, random_rows(read_checkpoint_record(imported), 5000));
    }
  }
}

TEST_F(ImportedCheckpoints, AgreeOnEveryGoldenRow) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const CsvTable expected = CsvTable::read(reference / "golden" / "predictions.csv");
  struct Rows {
    std::vector<float> features;
    std::vector<double> outputs;  // of the original
  };
  std::map<fs::path, Rows> rows;  // by checkpoint
  std::map<std::string, CsvTable> tables;
  for (std::size_t i = 0; i < expected.rows(); ++i) {
    const CsvRow row(expected, i);
    const std::string table = row.text("features_file");
    if (tables.count(table) == 0) {
      tables.emplace(table, CsvTable::read(reference / "golden" / table));
    }
    const CsvRow problem(tables.at(table), static_cast<std::size_t>(row.integer("row_id")));
    const fs::path imported = import(reference / "checkpoints_upstream" / row.text("checkpoint"));
    const ModelRecord record = read_checkpoint_record(imported);
    const ModelInput input =
        model_input(operator_family(record.operator_name).read(problem),
                    catalog.get(row.text("hardware")), record.kind, record.analysis);
    Rows& found = rows[imported];
    for (const std::size_t column : feature_columns(record, "record")) {
      found.features.push_back(static_cast<float>(input.features[column]));
    }
    found.outputs.push_back(row.number("overall_perf"));
  }
  EXPECT_GE(rows.size(), 5u);
  for (const auto& [file, golden] : rows) {
    expect_same(file, golden.features);
    const LoadedModel model = load_model(file, NetworkEngine::native);
    EXPECT_LE(largest_difference(ModelKind::efficiency, model.model->evaluate(golden.features),
                                 golden.outputs),
              kSameAsFloat)
        << file;
  }
}

}  // namespace
}  // namespace pw
