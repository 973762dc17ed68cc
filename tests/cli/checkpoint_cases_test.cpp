// Model files as people bring them to pw-predict: modules of others, damaged files, wrong types and
// widths, weights that say nothing.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "io/files.h"
#include "io/json_file.h"
#include "io/zip_archive.h"
#include "pw/operators.h"
#include "support/built.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/zip_writer.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kGemmFeatures = 11;
constexpr char kRows[] = "M,N,K\n128,4096,4096\n16,2048,1024\n";
constexpr char kForward[] =
    "def forward(self, x):\n    return torch.sigmoid(torch.linear(x, self.weight, self.bias))\n";

// Weights 0.002, 0.004, ... for each output: small, so that the sigmoid tells inputs apart.
torch::Tensor rising_weights(std::int64_t outputs, std::int64_t inputs) {
  return torch::arange(1, inputs + 1).to(torch::kFloat32).mul(0.002).repeat({outputs, 1});
}

torch::jit::Module module_of(const torch::Tensor& weight, double bias = -1,
                             const std::string& code = kForward) {
  torch::jit::Module module("SomebodysModel");
  module.register_parameter("weight", weight, false);
  module.register_parameter("bias", torch::full({weight.size(0)}, bias, weight.options()), false);
  module.define(code);
  return module;
}

std::string bytes_of(const torch::jit::Module& module) {
  std::ostringstream stream;
  module.save(stream);
  return stream.str();
}

std::string good() { return bytes_of(module_of(rising_weights(1, kGemmFeatures))); }

class CheckpointCases : public testing::Test {
 protected:
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return run_program(folder_.path(), program("pw-predict"), arguments);
  }
  // What the model in m.pt gives for these features as they are.
  ProgramResult evaluate(const std::vector<double>& features,
                         const std::string& transform = "none") const {
    folder_.file("features.json", to_json_text(Json(features)));
    return run({"evaluate", "m.pt", "--operator", "gemm", "--input-transform", transform, "--input",
                "features.json"});
  }
  // A prediction of two GEMMs with the model in m.pt.
  ProgramResult predict(const std::vector<std::string>& more = {"--input-transform",
                                                                "log1p"}) const {
    folder_.file("rows.csv", kRows);
    std::vector<std::string> arguments{"operators", "--operator", "gemm",   "--input",
                                       "rows.csv",  "--hardware", "A100",   "--checkpoint",
                                       "gemm=m.pt", "--output",   "out.csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  // The run was refused with one line, and without output.
  void expect_refused(const ProgramResult& result,
                      const testing::Matcher<std::string>& message) const {
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.errors, AllOf(StartsWith("pw-predict: "), message));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_EQ(result.output, "");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out.csv"));
  }
  const TemporaryFolder folder_;
};

std::vector<double> features() {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kGemmFeatures; ++i) values.push_back(0.25 * static_cast<double>(i));
  return values;
}

// The module's formula, with `value` of each feature.
template <class Value>
double expected_output(const std::vector<double>& inputs, Value value) {
  double sum = -1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sum += 0.002 * static_cast<double>(i + 1) * value(inputs[i]);
  }
  return 1 / (1 + std::exp(-sum));
}

TEST_F(CheckpointCases, E01AModuleOfSomebodyElseIsUsedAsTheOptionsSay) {
  folder_.file("m.pt", good());
  const ProgramResult raw = evaluate(features());
  EXPECT_EQ(raw.exit_code, 0) << raw.errors;
  EXPECT_NEAR(std::stod(raw.output), expected_output(features(), [](double x) { return x; }), 1e-6);
  const ProgramResult log1p = evaluate(features(), "log1p");
  EXPECT_NEAR(std::stod(log1p.output),
              expected_output(features(), [](double x) { return std::log1p(x); }), 1e-6);
  const ProgramResult predicted = predict();
  EXPECT_EQ(predicted.exit_code, 0) << predicted.errors;
}

TEST_F(CheckpointCases, E01WithoutTheOptionsTheyAreNamed) {
  folder_.file("m.pt", good());
  folder_.file("features.json", "[1]");
  const auto both = AllOf(HasSubstr("m.pt is TorchScript without our record"),
                          HasSubstr("--operator NAME"), HasSubstr("--input-transform none|log1p"));
  expect_refused(predict({}), both);
  expect_refused(run({"info", "m.pt"}), both);
  expect_refused(run({"info", "m.pt", "--operator", "gemm"}), both);
  expect_refused(run({"evaluate", "m.pt", "--input-transform", "none", "--input", "features.json"}),
                 both);
  EXPECT_EQ(run({"info", "m.pt", "--operator", "gemm", "--input-transform", "none"}).exit_code, 0);
}

TEST_F(CheckpointCases, E01AColumnOfOutputsAndAPlainVectorAreTheSame) {
  const std::string code = std::string(kForward).insert(std::strlen(kForward) - 1, ".squeeze(1)");
  folder_.file("m.pt", good());
  const std::string column = evaluate(features()).output;
  folder_.file("m.pt", bytes_of(module_of(rising_weights(1, kGemmFeatures), -1, code)));
  EXPECT_EQ(evaluate(features()).output, column);
}

TEST_F(CheckpointCases, E01PickledWeightsAreSentToTheImport) {
  const std::string pickle = "\x80\x02}.";
  for (const std::string& bytes :
       {write_zip({{"m/data.pkl", pickle}, {"m/version", "3\n"}}), "\x80\x02\x8a\nl" + pickle}) {
    folder_.file("m.pt", bytes);
    expect_refused(predict(), HasSubstr("m.pt is a Python state_dict/checkpoint, not TorchScript; "
                                        "convert it with pw-train import"));
  }
}

TEST_F(CheckpointCases, E02IncompleteFilesAreNamedWithTheirSize) {
  const std::string whole = good();
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 20), std::string(),
        std::string("no model\n")}) {
    folder_.file("m.pt", bytes);
    expect_refused(predict(), HasSubstr("cannot load m.pt: not a complete TorchScript archive (" +
                                        std::to_string(bytes.size()) + " bytes)"));
  }
}

TEST_F(CheckpointCases, E02AFlippedBitOfAWeightIsFound) {
  std::string bytes = good();
  const ZipArchive archive(bytes, "m.pt");
  const std::size_t weights = bytes.find(std::string(archive.member("data/0")));
  ASSERT_NE(weights, std::string::npos);
  for (const int bit : {0, 6}) {
    std::string changed = bytes;
    changed[weights + 7] = static_cast<char>(changed[weights + 7] ^ 1 << bit);
    folder_.file("m.pt", changed);
    expect_refused(predict(), HasSubstr("has changed since it was written"));
  }
}

TEST_F(CheckpointCases, E05WeightsOfOtherFloatTypesAreCast) {
  folder_.file("m.pt", good());
  const double single = std::stod(evaluate(features()).output);
  for (const auto& [type, tolerance] :
       {std::pair{torch::kFloat64, 1e-6}, std::pair{torch::kFloat16, 2e-3},
        std::pair{torch::kBFloat16, 2e-2}}) {
    folder_.file("m.pt", bytes_of(module_of(rising_weights(1, kGemmFeatures).to(type))));
    const ProgramResult result = evaluate(features());
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_NEAR(std::stod(result.output), single, tolerance);
  }
}

std::vector<std::string> gemm_features() {
  std::vector<std::string> names;
  for (const Feature& feature : *operator_family("gemm").features) names.emplace_back(feature.name);
  return names;
}

std::string metadata(const std::vector<std::string>& names, std::size_t count,
                     const std::string& operator_name = "gemm") {
  return to_json_text(
      {{"operator_type", operator_name}, {"num_features", count}, {"features", names}});
}

TEST_F(CheckpointCases, E06AnotherWidthNamesBoth) {
  folder_.file("m.pt", bytes_of(module_of(rising_weights(1, 15))));
  expect_refused(predict(), HasSubstr("m.pt: the model expects 15 features, gemm has 11"));
}

TEST_F(CheckpointCases, E06SeveralOutputsAreRefused) {
  folder_.file("m.pt", bytes_of(module_of(rising_weights(2, kGemmFeatures))));
  expect_refused(predict(), AllOf(HasSubstr("[2, 2]"), HasSubstr("expected one float per row")));
  const std::string pair =
      "def forward(self, x):\n    y = torch.linear(x, self.weight, self.bias)\n    return y, y\n";
  folder_.file("m.pt", bytes_of(module_of(rising_weights(1, kGemmFeatures), 0, pair)));
  expect_refused(predict(), HasSubstr("expected a module that gives one tensor for one tensor"));
}

TEST_F(CheckpointCases, E06FeaturesAreFedInTheOrderOfTheMetadata) {
  folder_.file("m.pt", good());
  predict();
  const std::string plain = read_file(folder_.path() / "out.csv");
  std::vector<std::string> names = gemm_features();
  folder_.file("m.json", metadata(names, names.size()));
  predict();
  EXPECT_EQ(read_file(folder_.path() / "out.csv"), plain);

  // Features and weights in the reverse order: the same model.
  std::reverse(names.begin(), names.end());
  folder_.file("m.pt", bytes_of(module_of(rising_weights(1, kGemmFeatures).flip({1}))));
  std::filesystem::remove(folder_.path() / "m.json");
  predict();
  EXPECT_NE(read_file(folder_.path() / "out.csv"), plain);
  folder_.file("m.json", "{\"model_info\": " + metadata(names, names.size()) + "}");
  predict();
  const std::string reversed = read_file(folder_.path() / "out.csv");
  std::filesystem::rename(folder_.path() / "m.json", folder_.path() / "metadata.json");
  predict();
  EXPECT_EQ(read_file(folder_.path() / "out.csv"), reversed);
  // Sums in another order may differ in the last digit.
  const auto duration = [](const std::string& csv) {
    const std::size_t line = csv.find('\n') + 1;
    std::size_t at = line;
    for (int comma = 0; comma < 4; ++comma) at = csv.find(',', at) + 1;
    return std::stod(csv.substr(at));
  };
  EXPECT_NEAR(duration(reversed), duration(plain), 1e-5 * duration(plain));
}

TEST_F(CheckpointCases, E06MetadataThatDoesNotFitIsRefusedByKey) {
  folder_.file("m.pt", good());
  std::vector<std::string> names = gemm_features();
  const auto expect = [&](const std::string& text, const testing::Matcher<std::string>& message) {
    folder_.file("m.json", text);
    expect_refused(predict(), message);
  };
  expect(R"({"operator_type": "gemm"})", HasSubstr("m.json: features is missing"));
  expect(R"({"operator_type": "attn", "num_features": 14, "features": ["a"]})",
         HasSubstr("m.json: num_features: found 14, but 'features' lists 1"));
  expect(metadata(names, names.size(), "rmsnorm"), HasSubstr("operator_type: found 'rmsnorm'"));
  names[2] = "phase_of_the_moon";
  expect(metadata(names, names.size()), HasSubstr("'phase_of_the_moon'"));
  names.resize(4);
  names[2] = gemm_features()[2];
  expect(metadata(names, names.size()), HasSubstr("the model expects 11 features, gemm has 4"));
}

TEST_F(CheckpointCases, E08WeightsThatAreNotFinite) {
  for (const float value : {NAN, INFINITY}) {
    torch::Tensor weight = rising_weights(1, kGemmFeatures);
    weight[0][3] = value;
    folder_.file("m.pt", bytes_of(module_of(weight)));
    expect_refused(predict(), HasSubstr("m.pt: model output not finite for gemm"));
  }
}

TEST_F(CheckpointCases, E08OutputsThatAreNoUtilisation) {
  const torch::Tensor none = torch::zeros({1, kGemmFeatures});
  folder_.file("m.pt", bytes_of(module_of(none, -1000)));  // the sigmoid is 0
  expect_refused(predict(), HasSubstr("utilisation 0 for gemm M="));
  folder_.file("m.pt", bytes_of(module_of(none, -60)));  // the sigmoid is 1e-26
  expect_refused(predict(), HasSubstr("utilisation 0 for gemm M="));
  const std::string code =
      "def forward(self, x):\n    return torch.linear(x, self.weight, self.bias) / 0\n";
  folder_.file("m.pt", bytes_of(module_of(none, 1, code)));
  expect_refused(predict(), HasSubstr("model output not finite for gemm"));
}

}  // namespace
}  // namespace pw
