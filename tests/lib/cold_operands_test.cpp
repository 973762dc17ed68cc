// Predictions of the shipped models with operands in DRAM against the same with operands in L2.

#include <gtest/gtest.h>

#include "pw/hardware_catalog.h"
#include "pw/model_loader.h"
#include "pw/operator_predictor.h"
#include "support/reference.h"

namespace pw {
namespace {

const std::vector<std::int64_t> kRows{1, 2, 8, 16, 64, 256, 2048};
const std::vector<std::int64_t> kWidths{128, 512, 1024, 2560, 4096, 8192, 16384};

template <class Gemm>
std::vector<OperatorConfig> gemms(double copies) {
  std::vector<OperatorConfig> all;
  for (const std::int64_t m : kRows) {
    for (const std::int64_t n : kWidths) {
      for (const std::int64_t k : kWidths) {
        Gemm gemm;
        gemm.m = m;
        gemm.n = n;
        gemm.k = k;
        gemm.weight_copies = copies;
        all.push_back(gemm);
      }
    }
  }
  return all;
}

std::vector<OperatorConfig> decodes(double copies) {
  std::vector<OperatorConfig> all;
  for (const std::size_t batch : {1u, 8u, 64u}) {
    for (const std::int64_t context : {100, 2000, 30000}) {
      for (const std::int64_t kv_heads : {1, 8}) {
        AttentionConfig attention;
        attention.layout = KvLayout::paged;
        attention.q_lengths.assign(batch, 1);
        attention.kv_lengths.assign(batch, context);
        attention.query_heads = 8;
        attention.kv_heads = kv_heads;
        attention.head_dim = 128;
        attention.kv_copies = copies;
        all.push_back(attention);
      }
    }
  }
  return all;
}

// Compares each problem with cold operands to the same with warm ones on every shipped GPU that the
// family can be predicted for. Returns how many were slower cold: a rule that changes nothing would
// pass otherwise.
std::size_t expect_cold_not_faster(const char* family, const std::vector<OperatorConfig>& warm,
                                   const std::vector<OperatorConfig>& cold) {
  const ModelSet models = load_models({shipped("checkpoints"), {}}, {family});
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  std::size_t slower = 0, gpus = 0;
  for (const HardwareSpec& hardware : catalog.all()) {
    if (family == std::string(Fp8GemmConfig::kName) && hardware.tensor_fp8_ops_per_cycle_sm <= 0) {
      continue;
    }
    ++gpus;
    const OperatorPredictor predictor(hardware, models);
    const auto warm_times = predictor.predict(warm);
    const auto cold_times = predictor.predict(cold);
    for (std::size_t i = 0; i < warm.size(); ++i) {
      EXPECT_GE(cold_times[i].duration_us, warm_times[i].duration_us)
          << describe(cold[i]) << " on " << hardware.name;
      slower += cold_times[i].duration_us > warm_times[i].duration_us ? 1 : 0;
    }
  }
  EXPECT_GE(gpus, 5u);
  return slower;
}

TEST(ColdOperands, GemmIsNeverFasterThanWithWarmWeights) {
  EXPECT_GT(expect_cold_not_faster("gemm", gemms<GemmConfig>(1), gemms<GemmConfig>(kColdCopies)),
            100u);
}

TEST(ColdOperands, Fp8GemmIsNeverFasterThanWithWarmWeights) {
  EXPECT_GT(expect_cold_not_faster("gemm_fp8", gemms<Fp8GemmConfig>(1),
                                   gemms<Fp8GemmConfig>(kColdCopies)),
            10u);
}

TEST(ColdOperands, DecodeAttentionIsNeverFasterThanWithAWarmContext) {
  EXPECT_GT(expect_cold_not_faster("attn", decodes(1), decodes(kColdCopies)), 10u);
}

// 8 x 4096 x 1024: 8.4 MB of weights are 11.7 us at the L40S's 717 GB/s and in its cache of 96 MB
// when six copies take turns, where the fitted table has 6.3 us (NVIDIA AIConfigurator).
TEST(ColdOperands, WeightsComeFromDramInAModel) {
  const HardwareCatalog catalog = HardwareCatalog::read(shipped("hardware"));
  const OperatorPredictor predictor(catalog.get("L40S"),
                                    load_models({shipped("checkpoints"), {}}, {"gemm"}));
  GemmConfig gemm{8, 4096, 1024};
  const double cold_us = predictor.predict({gemm}).front().duration_us;
  gemm.weight_copies = 6;
  const double warm_us = predictor.predict({gemm}).front().duration_us;
  EXPECT_NEAR(warm_us, 6.3, 1.0);
  EXPECT_NEAR(cold_us, 3 + 11.7, 0.2);
}

}  // namespace
}  // namespace pw
