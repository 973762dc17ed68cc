// Distinct operator predictions per second of a sweep against the same points predicted one by one,
// and against the network alone. A point is a workload on a GPU.
//
//   sweep_bench THREADS [PW_PREDICT]   with the program's path: a process per point, too
//
// Prints lines "name value". Rates per CPU second are those of one thread with a core of its own,
// whatever else runs on the machine.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "pw/data_paths.h"
#include "pw/hardware_catalog.h"
#include "pw/model_loader.h"
#include "sweep_run.h"

namespace pw {
namespace {

// How long `work` takes.
template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void print(const std::string& name, double value) {
  std::printf("%-34s %.6g\n", name.c_str(), value);
  std::fflush(stdout);
}

struct Inputs {
  HardwareCatalog catalog = HardwareCatalog::read(find_data_folder("hardware", {}));
  ModelSet models = load_models({find_data_folder("checkpoints", {}), {}}, {"gemm", "attn"});
  CollectiveCatalog collectives =
      CollectiveCatalog::read(find_data_folder("checkpoints", {}) / "collectives.json");
  EngineProfile engine =
      read_engine_profile(find_data_folder("config", std::nullopt) / "engines", "sglang");

  std::vector<OperatorPredictor> predictors() const {
    std::vector<OperatorPredictor> all;
    for (const HardwareSpec& gpu : catalog.all()) all.emplace_back(gpu, models);
    return all;
  }
};

// The models on all shipped GPUs, as a capacity planner would ask.
Sweep make_sweep(const Inputs& inputs, const std::vector<std::filesystem::path>& configs) {
  Sweep sweep;
  for (const std::filesystem::path& config : configs) {
    sweep.models.push_back(read_model_config(config));
    sweep.grid.models.push_back(sweep.models.back().stem);
  }
  sweep.grid.tp_sizes = {1, 2, 4, 8};
  sweep.grid.pp_sizes = {1};
  SweepRequests requests;
  requests.input_tokens = 2000;
  requests.output_tokens = 257;
  sweep.grid.requests = {requests};
  sweep.traces.resize(1);
  sweep.grid.batches = {1, 2, 4, 8, 16, 32, 64, 128};
  for (const HardwareSpec& gpu : inputs.catalog.all()) sweep.grid.gpus.push_back(gpu.stem);
  return sweep;
}

// `computed`: by the networks, each of another operator or GPU. `delivered`: distinct operators of
// each workload on each GPU, as single predictions compute them.
void bench_sweep(const Inputs& inputs, const Sweep& sweep, std::size_t threads,
                 const std::string& name) {
  const std::size_t rows = sweep.grid.rows();
  const SweepEvaluator evaluator(inputs.predictors(), inputs.collectives, inputs.engine);
  const double cpu_before = cpu_seconds();
  const double wall = seconds([&] {
    run_sweep(
        sweep, evaluator, {0, rows}, threads, [] { return false; }, [](const auto&) {});
  });
  const double cpu = cpu_seconds() - cpu_before;
  const auto computed = static_cast<double>(evaluator.operator_predictions());
  // In prefill 5 GEMMs, an attention, a norm and an activation; for all decode steps the same but
  // lm_head, which is that of prefill, with an attention for each.
  const double delivered = static_cast<double>(rows) * (8 + 6 + 256);
  print(name + "_rows", static_cast<double>(rows));
  print(name + "_computed", computed);
  print(name + "_computed_per_s", computed / wall);
  print(name + "_computed_per_cpu_s", computed / cpu);
  print(name + "_delivered_per_s", delivered / wall);
  print(name + "_delivered_per_cpu_s", delivered / cpu);
  print(name + "_points_per_cpu_s", static_cast<double>(rows) / cpu);
}

// Some points spread over the grid, each planned and predicted on its own.
void bench_points(const Inputs& inputs, const Sweep& sweep) {
  const std::vector<OperatorPredictor> predictors = inputs.predictors();
  const std::size_t rows = sweep.grid.rows();
  std::size_t points = 0;
  const double cpu = cpu_seconds();
  for (std::size_t row = 0; row < rows; row += 37) {
    const SweepGrid::Workload place = sweep.grid.workload(row / predictors.size());
    WorkloadOptions options;
    options.tp_size = place.tp_size;
    const SweepRequests& requests = sweep.grid.requests[place.requests];
    const Workload workload = generate_workload(
        sweep.models[place.model],
        uniform_trace(place.batch, requests.input_tokens, requests.output_tokens), options);
    predict_workload(workload, predictors[row % predictors.size()], inputs.collectives,
                     inputs.engine);
    ++points;
  }
  print("single_points_per_cpu_s", static_cast<double>(points) / (cpu_seconds() - cpu));
}

// The forward pass of the network for most of a sweep's operators, on one thread and alone.
void bench_network(const Inputs& inputs) {
  const OperatorModel& model = *inputs.models.at("attn_paged").model;
  const std::size_t rows = 256 * inputs.catalog.all().size();
  const std::vector<float> features(rows * model.record().features.size(), 0.5F);
  constexpr int kRepetitions = 30;
  const double cpu = cpu_seconds();
  for (int i = 0; i < kRepetitions; ++i) model.evaluate(features);
  print("network_rows_per_cpu_s", kRepetitions * static_cast<double>(rows) / (cpu_seconds() - cpu));
}

// A process per point, as without a sweep.
void bench_processes(const Sweep& sweep, const std::string& program) {
  const std::size_t rows = sweep.grid.rows();
  std::size_t points = 0;
  const double wall = seconds([&] {
    for (std::size_t row = 0; row < rows; row += 191) {
      const SweepGrid::Workload place = sweep.grid.workload(row / sweep.grid.gpus.size());
      const std::string command = program + " --model " + sweep.grid.models[place.model] +
                                  " --hardware '" + sweep.grid.gpus[row % sweep.grid.gpus.size()] +
                                  "' --tp " + std::to_string(place.tp_size) + " --batch " +
                                  std::to_string(place.batch) +
                                  " --input-len 2000 --output-len 257 >/dev/null";
      if (std::system(command.c_str()) != 0) {
        throw DataError("'" + command + "' failed");
      }
      ++points;
    }
  });
  print("process_points_per_s", static_cast<double>(points) / wall);
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: sweep_bench THREADS [PW_PREDICT]\n";
    return 2;
  }
  const Inputs inputs;
  const std::size_t threads = std::stoul(argv[1]);
  const std::filesystem::path configs = find_data_folder("config", {});
  const Sweep sweep = make_sweep(inputs, json_files(configs));
  bench_network(inputs);
  // A model whose attention is another one for each tp, so that nothing is computed already; and
  // all models, some of them of the same attention.
  bench_sweep(inputs, make_sweep(inputs, {configs / "Llama-3-8B.json"}), threads, "one_model");
  bench_sweep(inputs, sweep, threads, "all_models");
  bench_points(inputs, sweep);
  if (argc > 2) bench_processes(sweep, argv[2]);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  print("peak_resident_mib", static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

}  // namespace
}  // namespace pw

int main(int argc, char** argv) {
  try {
    return pw::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "sweep_bench: " << error.what() << '\n';
    return 1;
  }
}
