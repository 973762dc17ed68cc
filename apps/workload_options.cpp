#include "workload_options.h"

#include <map>

#include "pw/data_paths.h"

namespace pw {
namespace {

constexpr char kRequests[] = "Requests";
constexpr char kEngine[] = "Engine";

void add_request_options(cli::App& app, WorkloadArguments& arguments,
                         WorkloadOptionHandles& handles) {
  handles.trace =
      app.add_option("--trace", arguments.trace, "CSV or JSON lines with a request per line")
          ->option_text("FILE")
          ->group(kRequests);
  cli::Option* batch =
      app.add_option("--batch", arguments.batch,
                     "Requests that run together; of a trace: all, if it has at most 256")
          ->check(cli::PositiveNumber())
          ->option_text("N")
          ->group(kRequests);
  app.add_option("--offset", arguments.offset, "First request of the trace, counted from 0")
      ->check(cli::NonNegativeNumber())
      ->option_text("K")
      ->needs(handles.trace)
      ->group(kRequests);
  app.add_flag("--skip-bad-rows", arguments.skip_bad_rows,
               "Leave out and list lines of the trace that are no request, instead of stopping")
      ->needs(handles.trace)
      ->group(kRequests);
  handles.input_tokens =
      app.add_option("--input-len", arguments.input_tokens, "Tokens of each prompt")
          ->check(cli::PositiveNumber())
          ->option_text("TOKENS")
          ->needs(batch)
          ->excludes(handles.trace)
          ->group(kRequests);
  cli::Option* output =
      app.add_option("--output-len", arguments.output_tokens, "Tokens that each request generates")
          ->check(cli::PositiveNumber())
          ->option_text("TOKENS")
          ->needs(handles.input_tokens)
          ->group(kRequests);
  handles.input_tokens->needs(output);
}

void add_parallel_options(cli::App& app, WorkloadOptions& options) {
  app.add_option("--tp", options.tp_size, "Tensor-parallel GPUs (1)")
      ->check(cli::PositiveNumber())
      ->option_text("N")
      ->group(kEngine);
  app.add_option("--pp", options.pp_size, "Pipeline stages (1)")
      ->check(cli::PositiveNumber())
      ->option_text("N")
      ->group(kEngine);
  add_kernel_options(app, options);
}

}  // namespace

void add_kernel_options(cli::App& app, WorkloadOptions& options) {
  const std::map<std::string, AttentionKernel> kernels{{"auto", AttentionKernel::automatic},
                                                       {"fa2", AttentionKernel::fa2},
                                                       {"fa3", AttentionKernel::fa3}};
  const auto add_kernel = [&](const std::string& name, AttentionKernel& kernel,
                              const std::string& phase) {
    app.add_option_function<std::string>(
           name, [&kernel, kernels](const std::string& text) { kernel = kernels.at(text); },
           "Attention kernel of " + phase + " (auto: fa3 on Hopper, fa2 on other GPUs)")
        ->check(cli::IsMember(kernels))
        ->option_text("auto|fa2|fa3")
        ->group(kEngine);
  };
  add_kernel("--prefill-backend", options.prefill_kernel, "prefill");
  add_kernel("--decode-backend", options.decode_kernel, "decode");
  app.add_option("--rmsnorm-per-layer", options.rmsnorm_per_layer,
                 "RMSNorms of each layer (as the model has them);\n4 reproduces four published Qwen3 files")
      ->check(cli::IsMember({2, 4}))
      ->option_text("2|4")
      ->group(kEngine);
}

void WorkloadOptionHandles::require_requests() const {
  if (model->empty()) {
    throw cli::RequiredError("--model");
  }
  if (trace->empty() && input_tokens->empty()) {
    throw cli::RequiredError("--trace, or --batch with --input-len and --output-len");
  }
}

WorkloadOptionHandles add_workload_options(cli::App& app, WorkloadArguments& arguments) {
  WorkloadOptionHandles handles;
  handles.model = app.add_option("--model", arguments.model,
                                 "Model: a Hugging Face config.json, or the name of a shipped one")
                      ->option_text("NAME|FILE");
  add_request_options(app, arguments, handles);
  add_parallel_options(app, arguments.options);
  app.add_option("--config-dir", arguments.config_folder, "Folder of shipped model configs")
      ->option_text("FOLDER");
  return handles;
}

Trace asked_requests(const WorkloadArguments& arguments) {
  if (arguments.trace) {
    const BadRows bad_rows = arguments.skip_bad_rows ? BadRows::skip : BadRows::refuse;
    return select_batch(read_trace(*arguments.trace, bad_rows), arguments.batch, arguments.offset);
  }
  return uniform_trace(*arguments.batch, arguments.input_tokens, arguments.output_tokens);
}

ModelConfig asked_model(const WorkloadArguments& arguments) {
  return read_model_config(
      find_model_config(arguments.model, find_data_folder("config", arguments.config_folder)));
}

Workload make_workload(const WorkloadArguments& arguments) {
  return generate_workload(asked_model(arguments), asked_requests(arguments), arguments.options);
}

}  // namespace pw
