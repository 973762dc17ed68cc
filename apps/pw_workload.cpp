#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "app.h"
#include "io/files.h"
#include "pw/data_paths.h"
#include "pw/workload.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kDescription[] =
    "Lists the GPU operators that an LLM runs for a batch of requests: one prefill of all "
    "prompts,\n"
    "then one decode step per further output token. All requests start together; each leaves the\n"
    "batch when it has its tokens. Writes a workload file for pw-predict.";

constexpr char kExamples[] =
    "Examples:\n"
    "  pw-workload --model Qwen2.5-14B --batch 8 --input-len 3500 --output-len 128\n"
    "  pw-workload --model my/config.json --trace requests.csv --batch 32 --offset 100 --tp 2\n"
    "A trace is a CSV with one request a line and the columns num_prefill_tokens and "
    "output_tokens\n"
    "(or num_decode_tokens), or ContextTokens and GeneratedTokens; lengths are tokens, and the "
    "first\n"
    "generated token counts.\n"
    "Exit code: 0 done, 1 internal error, 2 wrong usage, 3 bad data.";

struct Arguments {
  std::string model;
  std::optional<fs::path> config_folder;
  std::optional<fs::path> trace;
  std::optional<std::int64_t> batch;
  std::int64_t offset = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  WorkloadOptions workload;
  fs::path output = ".";
};

void add_request_options(CLI::App& app, Arguments& arguments) {
  CLI::Option* trace = app.add_option("--trace", arguments.trace, "CSV with a request per line")
                           ->option_text("FILE")
                           ->group("Requests");
  CLI::Option* batch =
      app.add_option("--batch", arguments.batch,
                     "Requests that run together; of a trace: all, if it has at most 256")
          ->option_text("N")
          ->group("Requests");
  app.add_option("--offset", arguments.offset, "First request of the trace, counted from 0")
      ->option_text("K")
      ->needs(trace)
      ->group("Requests");
  CLI::Option* input =
      app.add_option("--input-len", arguments.input_tokens, "Tokens of each prompt")
          ->option_text("TOKENS")
          ->needs(batch)
          ->excludes(trace)
          ->group("Requests");
  CLI::Option* output =
      app.add_option("--output-len", arguments.output_tokens, "Tokens that each request generates")
          ->option_text("TOKENS")
          ->needs(input)
          ->group("Requests");
  input->needs(output);
  app.parse_complete_callback([trace, input] {
    if (trace->empty() && input->empty()) {
      throw CLI::RequiredError("--trace, or --batch with --input-len and --output-len");
    }
  });
}

void add_engine_options(CLI::App& app, WorkloadOptions& options) {
  const std::map<std::string, AttentionKernel> kernels{{"auto", AttentionKernel::automatic},
                                                       {"fa2", AttentionKernel::fa2},
                                                       {"fa3", AttentionKernel::fa3}};
  const auto add_kernel = [&](const std::string& name, AttentionKernel& kernel,
                              const std::string& phase) {
    app.add_option_function<std::string>(
           name, [&kernel, kernels](const std::string& text) { kernel = kernels.at(text); },
           "Attention kernel of " + phase + " (auto: fa3 on Hopper, fa2 on other GPUs)")
        ->check(CLI::IsMember(kernels))
        ->option_text("auto|fa2|fa3")
        ->group("Engine");
  };
  app.add_option("--tp", options.tp_size, "Tensor-parallel GPUs (1)")
      ->option_text("N")
      ->group("Engine");
  app.add_option("--pp", options.pp_size, "Pipeline stages (1)")->option_text("N")->group("Engine");
  add_kernel("--prefill-backend", options.prefill_kernel, "prefill");
  add_kernel("--decode-backend", options.decode_kernel, "decode");
  app.add_flag("--published-rules", options.published_rules,
               "Write what the published generator writes: lm_head not sharded, all KV\n"
               "heads on each GPU if --tp exceeds them, the first request's output length\n"
               "for all, attention kernel fa2 unless given")
      ->group("Engine");
  app.add_option("--rmsnorm-per-layer", options.rmsnorm_per_layer,
                 "RMSNorms of each layer (2); 4 reproduces four published Qwen3 files")
      ->check(CLI::IsMember({2, 4}))
      ->option_text("2|4")
      ->group("Engine");
}

Trace requests(const Arguments& arguments) {
  if (arguments.trace) {
    return select_batch(read_trace(*arguments.trace), arguments.batch, arguments.offset);
  }
  return uniform_trace(*arguments.batch, arguments.input_tokens, arguments.output_tokens);
}

std::string summary(const Workload& workload) {
  std::int64_t decode_steps = 0;
  for (const Iteration& iteration : workload.iterations) {
    decode_steps += iteration.phase == Phase::decode ? 1 : 0;
  }
  const Iteration& prefill = workload.iterations.front();
  return workload.model.stem + ", " + std::to_string(prefill.q_lengths.size()) + " requests with " +
         std::to_string(num_tokens(prefill)) + " prompt tokens, " + std::to_string(decode_steps) +
         " decode steps, tp " + std::to_string(workload.tp_size) + ", pp " +
         std::to_string(workload.pp_size);
}

int generate(const Arguments& arguments) {
  const ModelConfig model = read_model_config(
      find_model_config(arguments.model, find_data_folder("config", arguments.config_folder)));
  const Trace trace = requests(arguments);
  const Workload workload = generate_workload(model, trace, arguments.workload);
  const fs::path path = arguments.output / workload_file_name(model, trace, arguments.workload);
  write_file_atomic(path, workload_json(workload, arguments.workload.published_rules));
  for (const std::string& note : workload.notes) {
    std::cerr << "note: " << note << '\n';
  }
  std::cerr << summary(workload) << '\n';
  std::cout << path.string() << '\n';
  return kDone;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(kDescription, "pw-workload");
  app.footer(kExamples);
  app.add_option("--model", arguments.model,
                 "Model: a Hugging Face config.json, or the name of a shipped one")
      ->option_text("NAME|FILE (required)")
      ->required();
  add_request_options(app, arguments);
  add_engine_options(app, arguments.workload);
  app.add_option("--config-dir", arguments.config_folder, "Folder of shipped model configs")
      ->option_text("FOLDER");
  app.add_option("--output", arguments.output,
                 "Folder (the current one) for <model>_<trace>_<kernel>_tp<N>_pp<N>.json;\n"
                 "the file's path is printed")
      ->option_text("FOLDER");
  return run_app(app, argc, argv, [&] { return generate(arguments); });
}

}  // namespace
}  // namespace pw

int main(int argc, char** argv) { return pw::run(argc, argv); }
