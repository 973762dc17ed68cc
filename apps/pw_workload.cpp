#include <filesystem>
#include <iostream>
#include <string>

#include "app.h"
#include "io/files.h"
#include "io/text.h"
#include "pw/workload.h"
#include "workload_options.h"

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
    "(or num_decode_tokens), or a trace of Azure, BurstGPT, Mooncake (JSON lines), Vidur or\n"
    "splitwise-sim as it is; lengths are tokens, and the first generated token counts.\n"
    "Exit code: 0 done, 1 internal error, 2 wrong usage, 3 bad data, 5 stopped.";

struct Arguments {
  WorkloadArguments workload;
  fs::path output = ".";
  bool list = false;
};

// What a model consists of.
int list_model(const Arguments& arguments) {
  const ModelConfig model = asked_model(arguments.workload);
  const std::int64_t total = parameters(model);
  std::cout << model.stem << ", " << model.architecture << ", hidden size " << model.hidden_size
            << ", vocabulary " << model.vocab_size << (model.tied_embeddings ? ", tied" : "")
            << '\n';
  for (const std::string& line : describe_layers(model)) std::cout << "  " << line << '\n';
  std::cout << "  parameters        " << total << '\n'
            << "  KV cache          " << kv_bytes_per_token(model) << " bytes per token, 16 bit\n";
  for (const Fact& fact : model.facts) std::cout << "  note: " << one_line(fact.sentence) << '\n';
  return kDone;
}

std::string summary(const Workload& workload) {
  std::int64_t decode_steps = 0;
  for (const Step& step : workload.steps) {
    decode_steps += step.phase == Phase::decode ? 1 : 0;
  }
  const Batch& prompts = workload.steps.front().batch;
  return workload.model.stem + ", " + std::to_string(prompts.requests()) + " requests with " +
         std::to_string(num_tokens(prompts)) + " prompt tokens, " + std::to_string(decode_steps) +
         " decode steps, tp " + std::to_string(workload.tp_size) + ", pp " +
         std::to_string(workload.pp_size);
}

int generate(const Arguments& arguments) {
  const Workload workload = make_workload(arguments.workload);
  const fs::path path = arguments.output / (workload.stem + ".json");
  write_file_atomic(path, workload_json(workload, arguments.workload.options.published_rules));
  for (const Fact& fact : workload.facts) {
    std::cerr << "note: " << one_line(fact.sentence) << '\n';
  }
  std::cerr << summary(workload) << '\n';
  std::cout << path.string() << '\n';
  return kDone;
}

int run(int argc, char** argv) {
  Arguments arguments;
  pw::cli::App app(kDescription, "pw-workload");
  app.footer(kExamples);
  const WorkloadOptionHandles options = add_workload_options(app, arguments.workload);
  app.add_flag("--published-rules", arguments.workload.options.published_rules,
               "Write what the published generator writes: lm_head not sharded, all KV\n"
               "heads on each GPU if --tp exceeds them, the first request's output length\n"
               "for all, attention kernel fa2 unless given");
  app.add_option("--output", arguments.output,
                 "Folder (the current one) for <model>_<trace>_<kernel>_tp<N>_pp<N>.json;\n"
                 "the file's path is printed")
      ->option_text("FOLDER");
  app.add_flag("--list", arguments.list,
               "Print the model's layers, parameters and KV cache per token instead");
  app.parse_complete_callback([options, &arguments] {
    if (!arguments.list) options.require_requests();
    if (options.model->empty()) throw cli::RequiredError("--model");
  });
  return run_app(app, argc, argv,
                 [&] { return arguments.list ? list_model(arguments) : generate(arguments); });
}

}  // namespace
}  // namespace pw

int main(int argc, char** argv) { return pw::run(argc, argv); }
