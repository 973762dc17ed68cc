// Features per second of every operator family, for small, typical and large problems. Names are
// FAMILY/PROBLEM/KIND with the kind of model that the features are for. Choose with
// --benchmark_filter, e.g. attn/fa2.

#include <benchmark/benchmark.h>

#include "pw/model_input.h"
#include "support/test_hardware.h"

namespace pw {
namespace {

void features(benchmark::State& state, const OperatorConfig& config, const HardwareSpec& hardware,
              ModelKind kind, const AnalysisOptions& options) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(model_input(config, hardware, kind, options));
  }
  state.SetItemsProcessed(state.iterations());
}

void add(const std::string& name, const OperatorConfig& config, const HardwareSpec& hardware,
         ModelKind kind, const AnalysisOptions& options = {}) {
  benchmark::RegisterBenchmark((name + "/" + std::string(to_string(kind))).c_str(), features,
                               config, hardware, kind, options)
      ->Unit(benchmark::kMicrosecond);
}

void add_both(const std::string& name, const OperatorConfig& config, const HardwareSpec& hardware) {
  add(name, config, hardware, ModelKind::efficiency);
  add(name, config, hardware, ModelKind::log_ratio);
}

struct Batch {
  const char* name;
  std::int64_t requests, queries, context;
  std::int64_t context_step;  // between one request and the next
  bool causal = true;

  // Requests in an order that is neither ascending nor descending.
  AttentionConfig config(AttentionKernel kernel) const {
    AttentionConfig a;
    a.kernel = kernel;
    for (std::int64_t i = 0; i < requests; ++i) {
      const std::int64_t more = context_step * (i * 7 % requests);
      a.q_lengths.push_back(queries == 1 ? 1 : queries + more);
      a.kv_lengths.push_back(context + more);
    }
    a.query_heads = 40;
    a.kv_heads = 8;
    a.head_dim = 128;
    a.causal = causal;
    return a;
  }
};

constexpr Batch kBatches[] = {
    {"decode_1", 1, 1, 900, 0},
    {"decode_8", 8, 1, 2000, 37},
    {"decode_32", 32, 1, 2000, 37},
    {"decode_32_equal", 32, 1, 2000, 0},
    {"decode_512", 512, 1, 2000, 37},
    {"decode_512x32k", 512, 1, 32768, 0},
    {"prefill_1x300", 1, 300, 300, 0},
    {"prefill_8x3500", 8, 3500, 3500, 0},
    {"prefill_8_unequal", 8, 2000, 2000, 411},
    {"prefill_8x3500_not_causal", 8, 3500, 3500, 0, false},
    {"prefill_64x32k", 64, 32768, 32768, 0},
    {"prefill_512x32k", 512, 32768, 32768, 0},
    {"prefill_512_unequal_32k", 512, 30000, 30000, 11},
};

void add_attention() {
  const struct {
    const char* name;
    AttentionKernel kernel;
    Fa2Schedule schedule;
    HardwareSpec hardware;
  } kernels[] = {
      {"fa2", AttentionKernel::fa2, Fa2Schedule::published, test_ampere()},
      {"fa2_faithful", AttentionKernel::fa2, Fa2Schedule::faithful, test_ampere()},
      {"fa3", AttentionKernel::fa3, {}, test_hopper()},
      {"cutlass", AttentionKernel::cutlass, {}, test_hopper()},
      {"ck", AttentionKernel::ck, {}, test_hopper()},
  };
  for (const auto& kernel : kernels) {
    for (const Batch& batch : kBatches) {
      if (kernel.kernel == AttentionKernel::ck && batch.context_step != 0) {
        continue;  // equal requests alone
      }
      AnalysisOptions options;
      options.fa2_schedule = kernel.schedule;
      add("attn/" + std::string(kernel.name) + "/" + batch.name, batch.config(kernel.kernel),
          kernel.hardware, ModelKind::efficiency, options);
    }
  }
  for (const Batch& batch : kBatches) {  // the same for all kernels
    add("attn/" + std::string(batch.name), batch.config(AttentionKernel::fa2), test_ampere(),
        ModelKind::log_ratio);
  }
}

MoeConfig moe(std::int64_t tokens) { return {MoeConfig::Pass::w13, tokens, 128, 8, 2048, 768}; }

void add_all() {
  const HardwareSpec hopper = test_hopper();
  add_both("gemm/8x512x512", GemmConfig{8, 512, 512}, hopper);
  add_both("gemm/8x27648x5120", GemmConfig{8, 27648, 5120}, hopper);
  add_both("gemm/24576x27648x5120", GemmConfig{24576, 27648, 5120}, hopper);
  add_both("gemm/profiled_tile", GemmConfig{513, 10240, 8192, GemmTile{128, 128, 64, 132, false}},
           hopper);
  add_both("gemm_fp8/8x512x512", Fp8GemmConfig{8, 512, 512}, hopper);
  add_both("gemm_fp8/8x27648x5120", Fp8GemmConfig{8, 27648, 5120}, hopper);
  add_both("gemm_fp8/24576x27648x5120", Fp8GemmConfig{24576, 27648, 5120}, hopper);
  add_attention();
  for (const std::int64_t rows : {1, 32, 24576}) {
    const std::string size = "/" + std::to_string(rows);
    add_both("rmsnorm" + size, RmsNormConfig{rows, 5120}, hopper);
    add_both("siluandmul" + size, SiluMulConfig{rows, 27648}, hopper);
    add_both("moe" + size, moe(rows), hopper);
  }
}

}  // namespace
}  // namespace pw

int main(int argc, char** argv) {
  pw::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
