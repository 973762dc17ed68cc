// Predictions with the original's checkpoints, imported by us, against its published predictions.

#include <cmath>

#include <gtest/gtest.h>

#include "io/json_file.h"
#include "pw/checkpoint.h"
#include "pw/hardware_catalog.h"
#include "pw/prediction.h"
#include "support/published_case.h"
#include "support/reference.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr double kToleranceMs = 1e-5;

// The checkpoints of the original, imported once.
const ModelSet& imported_models(const fs::path& reference) {
  static const ModelSet models = [&] {
    const TemporaryFolder folder;
    ModelSet set;
    for (const std::string family : {"gemm", "attn", "rmsnorm", "siluandmul"}) {
      const fs::path checkpoint = folder.path() / (family + ".pt");
      import_state_dict(reference / "checkpoints_upstream" / family / (family + "_mlp_model.pth"),
                        family, checkpoint);
      set[family] = {load_checkpoint(checkpoint), family + ".pt", "imported"};
    }
    return set;
  }();
  return models;
}

double published_ms(const Json& iteration, const std::string& group) {
  return iteration.at("operator_durations").at(group).at("single_duration_ms").get<double>();
}

TEST(Parity, AttentionRmsnormAndSiluOfAllIterationsOfAllFiles) {
  PW_REFERENCE_OR_SKIP(reference);
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  std::size_t files = 0, compared = 0;
  double largest = 0;
  for (const fs::path& path : json_files(reference / "e2e/pipeweave_pred")) {
    const PublishedCase published = find_case(reference, path, catalog);
    const OperatorPredictor predictor(*published.hardware, imported_models(reference));
    const Prediction prediction =
        predict_workload(read_workload(published.workload), predictor, {});
    const Json iterations = read_json(path).at("iterations");
    ASSERT_EQ(prediction.iterations.size(), iterations.size()) << path;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      for (const OperatorTime& time : prediction.iterations[i].operators) {
        if (time.group == OperatorGroup::gemm || time.group == OperatorGroup::communication) {
          continue;
        }
        const double expected = published_ms(iterations[i], std::string(to_string(time.group)));
        const double difference = std::abs(time.single_us / 1000 - expected);
        ASSERT_LE(difference, kToleranceMs) << path << " iteration " << i << ' ' << time.name;
        largest = std::max(largest, difference);
        ++compared;
      }
    }
    ++files;
  }
  EXPECT_EQ(files, 44u);
  EXPECT_GT(compared, 10000u);
  RecordProperty("largest_difference_ms", std::to_string(largest));
}

// Configurations that reproduce published GEMM durations of Qwen2.5-14B, iteration 1: the
// original's table is not public, these were inferred from its results.
TEST(Parity, GemmWithInferredLaunches) {
  PW_REFERENCE_OR_SKIP(reference);
  struct Launch {
    const char* gpu;
    std::int64_t m, n, k, tile_m, tile_n, waves;
    double expected_ms;
  };
  const Launch launches[] = {
      {"A100", 27966, 7168, 5120, 256, 128, 57, 8.678084},
      {"A100", 27966, 5120, 5120, 256, 128, 42, 6.307948},
      {"A100", 27966, 27648, 5120, 256, 128, 218, 30.995248},
      {"A100", 27966, 5120, 13824, 128, 256, 41, 15.541292},
      {"A100", 8, 152064, 5120, 64, 64, 22, 0.890207},
      {"L20", 33950, 7168, 5120, 128, 128, 164, 21.414},
      {"L20", 33950, 5120, 5120, 128, 128, 117, 15.324351},
  };
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  for (const Launch& launch : launches) {
    const HardwareSpec& hardware = catalog.get(launch.gpu);
    GemmConfig gemm{launch.m, launch.n, launch.k};
    gemm.tile = GemmTile{launch.tile_m, launch.tile_n, 64, launch.waves * hardware.num_sms, false};
    const OperatorPredictor predictor(hardware, imported_models(reference));
    EXPECT_NEAR(predictor.predict({gemm}).front().duration_us / 1000, launch.expected_ms,
                2e-6 * launch.expected_ms)
        << describe(gemm);
  }
}

}  // namespace
}  // namespace pw
