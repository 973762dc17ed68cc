// Speed of predictions: networks beside the matrix products of their shapes, operators and
// workloads through the C ABI, whole processes beside one that does nothing but link LibTorch.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "model/openblas_core.h"
#include "pw.h"
#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"
#include "pw/model_loader.h"
#include "pw/prediction.h"
#include "pw/step_maker.h"

extern char** environ;

namespace {

namespace fs = std::filesystem;

// Not in a public header of every OpenBLAS.
extern "C" void openblas_set_num_threads(int threads);

void check(pw_status status) {
  if (status != PW_OK) throw std::runtime_error(pw_last_error());
}

// ---- Networks ----

// Widths of every linear layer of a checkpoint's networks, as its record tells.
struct Shape {
  const char* checkpoint;
  int members;
  std::vector<int> widths;  // of one member, without the inputs
};
const Shape kShapes[] = {{"gemm", 3, {128, 128, 64, 1}}, {"gemm_fp8", 3, {256, 128, 64, 1}}};

pw::LoadedModel load(const std::string& checkpoint) {
  return pw::load_model(pw::find_data_folder("checkpoints", std::nullopt) / (checkpoint + ".pt"),
                        pw::NetworkEngine::native);
}

void forward(benchmark::State& state, const Shape& shape) {
  const pw::LoadedModel model = load(shape.checkpoint);
  const auto rows = static_cast<std::size_t>(state.range(0));
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> features(rows * model.model->record().features.size());
  std::generate(features.begin(), features.end(), [&] { return normal(generator); });
  for (auto _ : state) benchmark::DoNotOptimize(model.model->evaluate(features));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// The products of the same shapes alone, all in the caches that they leave room in.
void sgemm(benchmark::State& state, const Shape& shape) {
  openblas_set_num_threads(1);
  const auto rows = static_cast<int>(state.range(0));
  const auto inputs = static_cast<int>(load(shape.checkpoint).model->record().features.size());
  std::vector<std::vector<float>> activations, weights;
  int width = inputs;
  activations.emplace_back(static_cast<std::size_t>(rows * width), 1.0f);
  for (const int next : shape.widths) {
    weights.emplace_back(static_cast<std::size_t>(width * next), 0.01f);
    activations.emplace_back(static_cast<std::size_t>(rows * next));
    width = next;
  }
  for (auto _ : state) {
    for (int member = 0; member < shape.members; ++member) {
      width = inputs;
      for (std::size_t layer = 0; layer < weights.size(); ++layer) {
        const int next = shape.widths[layer];
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, next, width, 1,
                    activations[layer].data(), width, weights[layer].data(), width, 0,
                    activations[layer + 1].data(), next);
        width = next;
      }
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetLabel(pw::openblas_core());
}

// ---- Operators and workloads in process ----

struct Predictor {
  explicit Predictor(const char* gpu) { check(pw_predictor_create(gpu, nullptr, &handle)); }
  ~Predictor() { pw_predictor_destroy(handle); }
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;
  pw_predictor* handle = nullptr;
};

const std::vector<std::int64_t> kPrompts(8, 3500), kOnes(8, 1), kContexts(8, 3600);

pw_operator attention(pw_kv_layout layout) {
  pw_operator op{};
  op.kind = PW_ATTENTION;
  const bool paged = layout == PW_KV_PAGED;
  op.as.attention = {PW_ATTENTION_AUTO,
                     layout,
                     kPrompts.size(),
                     paged ? kOnes.data() : kPrompts.data(),
                     paged ? kContexts.data() : kPrompts.data(),
                     40,
                     8,
                     128,
                     paged ? 1 : 0};
  return op;
}

pw_operator gemm() {
  pw_operator op{};
  op.kind = PW_GEMM;
  op.as.gemm = {28000, 7168, 5120};
  return op;
}

void one_operator(benchmark::State& state, const pw_operator& op) {
  const Predictor predictor("A100");
  pw_operator_prediction found;
  for (auto _ : state) check(pw_predict_operators(predictor.handle, &op, 1, &found));
}

// Distinct GEMMs in one call.
void many_operators(benchmark::State& state) {
  const Predictor predictor("A100");
  std::vector<pw_operator> ops(static_cast<std::size_t>(state.range(0)), gemm());
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].as.gemm.m = static_cast<std::int64_t>(i) + 1;
  std::vector<pw_operator_prediction> found(ops.size());
  for (auto _ : state) {
    check(pw_predict_operators(predictor.handle, ops.data(), ops.size(), found.data()));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// A step of an engine with chunked prefill, 512 tokens in all, whose decodes are one token further
// each time: what a scheduler asks for.
void mixed_step(benchmark::State& state) {
  const pw::ModelConfig model = pw::read_model_config(
      pw::find_model_config("Llama-3.1-8B", pw::find_data_folder("config", std::nullopt)));
  const auto catalog = pw::HardwareCatalog::read(pw::find_data_folder("hardware", std::nullopt));
  std::vector<std::string> families;
  for (const pw::OperatorFamily& family : pw::operator_families()) {
    families.emplace_back(family.name);
  }
  const fs::path checkpoints = pw::find_data_folder("checkpoints", std::nullopt);
  const pw::OperatorTimer operators(
      {pw::OperatorPredictor(catalog.get("H100"), pw::load_models({checkpoints, {}}, families,
                                                                  pw::NetworkEngine::automatic))});
  const pw::CollectiveCatalog collectives;
  pw::StepTimer timer(
      operators, collectives,
      {model, 1, 1,
       pw::read_engine_profile(pw::find_data_folder("config", std::nullopt) / "engines", "vllm")});
  pw::StepMaker maker(model, {});
  std::int64_t context = 1000;
  for (auto _ : state) {
    pw::Batch decodes;
    for (std::int64_t i = 0; i < 32; ++i) {
      decodes.q_lengths.push_back(1);
      decodes.kv_lengths.push_back(context + 10 * i);
    }
    ++context;
    const std::vector<pw::Step> steps{maker.make({{480}, {2048}}, std::move(decodes), 1)};
    benchmark::DoNotOptimize(timer.time(steps).total_us(0, 0));
  }
}

fs::path published_workload(const char* name) {
  const auto reference = pw::find_reference_folder();
  return reference ? *reference / "workload" / name : fs::path();
}
const char* const kArxiv8 = "Qwen2.5-14B_arxiv_8_fa2_tp1_pp1.json";
const char* const kVllmArxiv16 = "Llama-3.1-70B_vllm_arxiv16_fa3_tp4_pp2.json";

void warm_workload(benchmark::State& state, const char* name, const char* gpu) {
  const fs::path file = published_workload(name);
  if (!fs::exists(file)) return state.SkipWithError("no public reference material here");
  const Predictor predictor(gpu);
  pw_workload* workload = nullptr;
  check(pw_workload_read(file.c_str(), &workload));
  pw_workload_prediction found;
  for (auto _ : state) check(pw_predict_workload(predictor.handle, workload, &found));
  pw_workload_destroy(workload);
}

void read_and_predict(benchmark::State& state, const char* name, const char* gpu) {
  const fs::path file = published_workload(name);
  if (!fs::exists(file)) return state.SkipWithError("no public reference material here");
  const Predictor predictor(gpu);
  pw_workload_prediction found;
  for (auto _ : state) {
    pw_workload* workload = nullptr;
    check(pw_workload_read(file.c_str(), &workload));
    check(pw_predict_workload(predictor.handle, workload, &found));
    pw_workload_destroy(workload);
  }
}

void generate(benchmark::State& state) {
  const std::vector<pw_request> requests(static_cast<std::size_t>(state.range(0)), {3500, 122});
  for (auto _ : state) {
    pw_workload* workload = nullptr;
    check(pw_workload_create("Qwen2.5-14B", requests.data(), requests.size(), nullptr, &workload));
    pw_workload_destroy(workload);
  }
}

// ---- Processes ----

// Returns the CPU time of the process in seconds.
double run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {1, 2}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  int status = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  rusage usage{};
  if (status != 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    throw std::runtime_error(command[0] + " failed");
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void process(benchmark::State& state, const std::vector<std::string>& command) {
  if (!fs::exists(command.front())) return state.SkipWithError("not built");
  for (auto _ : state) run(command);
}

void process_cpu(benchmark::State& state, const std::vector<std::string>& command) {
  if (!fs::exists(command.front())) return state.SkipWithError("not built");
  for (auto _ : state) state.SetIterationTime(run(command));
}

std::vector<std::string> predict_command(const std::vector<std::string>& more) {
  std::vector<std::string> command = {PW_PREDICT_PROGRAM};
  const fs::path file = published_workload(kArxiv8);
  if (fs::exists(file)) {
    command.insert(command.end(), {"--workload", file.string()});
  } else {
    command.insert(command.end(), {"--model", "Qwen2.5-14B", "--batch", "8", "--input-len", "3500",
                                   "--output-len", "122"});
  }
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  pw::use_fitting_openblas_core();
  for (const Shape& shape : kShapes) {
    for (const int rows : {1, 8, 128, 1024, 8192}) {
      const std::string name = shape.checkpoint;
      benchmark::RegisterBenchmark(("forward/" + name).c_str(), forward, shape)->Arg(rows);
      benchmark::RegisterBenchmark(("sgemm/" + name).c_str(), sgemm, shape)->Arg(rows);
    }
  }
  benchmark::RegisterBenchmark("operator/gemm", one_operator, gemm());
  benchmark::RegisterBenchmark("operator/attention_prefill", one_operator, attention(PW_KV_RAGGED));
  benchmark::RegisterBenchmark("operator/attention_decode", one_operator, attention(PW_KV_PAGED));
  benchmark::RegisterBenchmark("operators/gemm", many_operators)->Arg(10000);
  benchmark::RegisterBenchmark("step/mixed", mixed_step);
  benchmark::RegisterBenchmark("workload/arxiv_8", warm_workload, kArxiv8, "A100");
  benchmark::RegisterBenchmark("workload/vllm_arxiv16", warm_workload, kVllmArxiv16, "H800");
  benchmark::RegisterBenchmark("read_workload/arxiv_8", read_and_predict, kArxiv8, "A100");
  benchmark::RegisterBenchmark("read_workload/vllm_arxiv16", read_and_predict, kVllmArxiv16,
                               "H800");
  benchmark::RegisterBenchmark("generate_workload", generate)->Arg(8)->Arg(64);
  const auto add_process = [](const std::string& name, const std::vector<std::string>& command) {
    benchmark::RegisterBenchmark(("process/" + name).c_str(), process, command)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("process_cpu/" + name).c_str(), process_cpu, command)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  add_process("predict", predict_command({"--hardware", "A100"}));
  add_process("predict_all_gpus",
              predict_command({"--hardware", "all", "--summary", "--output", "bench_results/"}));
  add_process("predict_torch", predict_command({"--hardware", "A100", "--runtime", "torch"}));
  add_process("help", {PW_PREDICT_PROGRAM, "--help"});
  add_process("link_libtorch", {PW_LINK_LIBTORCH_PROGRAM});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  fs::remove_all("bench_results");
}
