#include "sweep_options.h"

#include <algorithm>

#include "comma_list.h"
#include "io/numbers.h"
#include "pw/data_paths.h"
#include "workload_options.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr char kAllModels[] = "all";
constexpr char kGrid[] = "Grid";
constexpr char kOutput[] = "Output";

cli::Option* add_sizes(cli::App& app, const std::string& name, std::vector<std::int64_t>& sizes,
                       const std::string& description) {
  return app.add_option(name, sizes, description)
      ->delimiter(',')
      ->check(cli::PositiveNumber())
      ->option_text("N,...")
      ->group(kGrid);
}

// "3/16" into shard and shards; false for anything else.
bool parse_shard(std::string_view text, SweepArguments& arguments) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto shard = parse_digits(text.substr(0, slash));
  const auto shards = parse_digits(text.substr(slash + 1));
  if (!shard || !shards || *shard < 1 || *shard > *shards) return false;
  arguments.shard = static_cast<std::size_t>(*shard);
  arguments.shards = static_cast<std::size_t>(*shards);
  return true;
}

void refuse_repetition(const std::string& option, const std::vector<std::int64_t>& sizes) {
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    if (std::find(sizes.begin(), size, *size) != size) {
      throw cli::ValidationError(option, "names " + std::to_string(*size) + " twice");
    }
  }
}

// Rows are told apart by these names. `files`: of the names so far, in their order.
void add_name(std::vector<std::string>& names, const std::string& name,
              std::vector<fs::path>& files, const fs::path& file, const char* what) {
  const auto same = std::find(names.begin(), names.end(), name);
  if (same != names.end()) {
    const fs::path& other = files[static_cast<std::size_t>(same - names.begin())];
    throw UsageError("two " + std::string(what) + " are called '" + name + "', " + other.string() +
                     " and " + file.string() + ": expected different file names, or for " +
                     "config.json different folder names");
  }
  names.push_back(name);
  files.push_back(file);
}

std::vector<fs::path> model_files(const SweepArguments& arguments) {
  const fs::path folder = find_data_folder("config", arguments.config_folder);
  std::vector<fs::path> files;
  for (const std::string& name : arguments.models) {
    if (name == kAllModels) {
      for (fs::path& file : json_files(folder)) files.push_back(std::move(file));
    } else {
      files.push_back(find_model_config(name, folder));
    }
  }
  return files;
}

void load_models(const SweepArguments& arguments, LoadedSweep& loaded) {
  std::vector<fs::path> files;
  for (const fs::path& file : model_files(arguments)) {
    loaded.sweep.models.push_back(read_model_config(file));
    const std::string& stem = loaded.sweep.models.back().stem;
    add_name(loaded.sweep.grid.models, stem, files, file, "models");
    loaded.inputs.emplace_back("model " + stem, file_provenance(file));
  }
}

void load_requests(const SweepArguments& arguments, LoadedSweep& loaded) {
  std::vector<std::string> names;
  std::vector<fs::path> files;
  for (const fs::path& file : arguments.traces) {
    Trace trace = read_trace(file);
    if (arguments.batches.empty()) {
      trace = select_batch(trace, std::nullopt, 0);  // throws when it is too long for one batch
    }
    add_name(names, trace.stem, files, file, "traces");
    loaded.inputs.emplace_back("trace " + trace.stem, file_provenance(file));
    SweepRequests requests;
    requests.trace = trace.stem;
    requests.trace_size = static_cast<std::int64_t>(trace.requests.size());
    loaded.sweep.grid.requests.push_back(std::move(requests));
    loaded.sweep.traces.push_back(std::move(trace));
  }
  for (const std::int64_t input : arguments.input_tokens) {
    for (const std::int64_t output : arguments.output_tokens) {
      SweepRequests requests;
      requests.input_tokens = input;
      requests.output_tokens = output;
      loaded.sweep.grid.requests.push_back(std::move(requests));
      loaded.sweep.traces.emplace_back();
    }
  }
}

}  // namespace

void add_sweep_options(cli::App& app, SweepArguments& arguments) {
  app.add_option("--models", arguments.models,
                 "Models: Hugging Face config.json files or names of shipped ones; or all of these")
      ->delimiter(',')
      ->required()
      ->option_text("NAME,...|all")
      ->group(kGrid);
  app.add_option("--hardware", arguments.predictor.hardware, "GPUs by short or full name, or all")
      ->delimiter(',')
      ->required()
      ->option_text("GPU,...|all")
      ->group(kGrid);
  add_sizes(app, "--tp", arguments.tp_sizes, "Tensor-parallel GPUs (1)");
  add_sizes(app, "--pp", arguments.pp_sizes, "Pipeline stages (1)");
  cli::Option* trace = app.add_option("--trace", arguments.traces, "CSVs with a request per line")
                           ->option_text("FILE...")
                           ->group(kGrid);
  cli::Option* batch =
      add_sizes(app, "--batch", arguments.batches,
                "Requests that run together; of a trace the first ones, or all without this "
                "option, if it has at most 256");
  cli::Option* input =
      add_sizes(app, "--input-len", arguments.input_tokens, "Tokens of each prompt");
  cli::Option* output =
      add_sizes(app, "--output-len", arguments.output_tokens, "Tokens that each request generates");
  input->needs(output)->needs(batch)->excludes(trace);
  output->needs(input);
  const EngineOptionHandles engine = add_engine_options(app, arguments.engine);
  add_kernel_options(app, arguments.options);
  app.add_option_function<std::string>(
         "--format",
         [&arguments](const std::string& name) { arguments.format = parse_sweep_format(name); },
         "csv (default), or jsonl: a JSON object per line")
      ->check(cli::IsMember({"csv", "jsonl"}))
      ->option_text("csv|jsonl")
      ->group(kOutput);
  app.add_option_function<std::string>(
         "--shard",
         [&arguments](const std::string& text) {
           if (!parse_shard(text, arguments)) {
             throw cli::ValidationError("--shard",
                                        "is '" + text + "', expected I/N with I from 1 to N");
           }
         },
         "Only part I of N of the grid; `pw-predict merge` joins the parts")
      ->option_text("I/N")
      ->group(kOutput);
  app.add_option("--config-dir", arguments.config_folder, "Folder of shipped model configs")
      ->option_text("FOLDER")
      ->group("Models and data");
  app.add_option("--collectives", arguments.predictor.collectives,
                 "Collective models (collectives.json)")
      ->option_text("FILE")
      ->group("Models and data");
  add_predictor_options(app, arguments.predictor);
  for (cli::Option* option : {engine.engine, engine.without}) {
    option->excludes("--published-rules");
  }
}

void check_sweep_options(const cli::App& app, const SweepArguments& arguments) {
  if (app.count("--trace") + app.count("--input-len") == 0) {
    throw cli::RequiredError("--trace, or --batch with --input-len and --output-len");
  }
  refuse_repetition("--tp", arguments.tp_sizes);
  refuse_repetition("--pp", arguments.pp_sizes);
  refuse_repetition("--batch", arguments.batches);
  refuse_repetition("--input-len", arguments.input_tokens);
  refuse_repetition("--output-len", arguments.output_tokens);
}

LoadedSweep load_sweep(const SweepArguments& arguments,
                       const std::vector<const HardwareSpec*>& gpus) {
  LoadedSweep loaded;
  Sweep& sweep = loaded.sweep;
  load_models(arguments, loaded);
  load_requests(arguments, loaded);
  sweep.grid.tp_sizes = arguments.tp_sizes;
  sweep.grid.pp_sizes = arguments.pp_sizes;
  sweep.grid.batches = arguments.batches;
  const fs::path hardware = find_data_folder("hardware", arguments.predictor.hardware_folder);
  for (const HardwareSpec* gpu : gpus) {
    sweep.grid.gpus.push_back(gpu->stem);
    loaded.inputs.emplace_back("hardware " + gpu->stem,
                               file_provenance(hardware / (gpu->stem + ".json")));
  }
  sweep.format = arguments.format;
  sweep.options = arguments.options;
  sweep.options.published_rules = arguments.predictor.published_rules;
  loaded.inputs.emplace_back("attention kernels",
                             attention_type(sweep.options.prefill_kernel, KvLayout::ragged) + ", " +
                                 attention_type(sweep.options.decode_kernel, KvLayout::paged));
  loaded.inputs.emplace_back("rmsnorm per layer",
                             sweep.options.rmsnorm_per_layer
                                 ? std::to_string(*sweep.options.rmsnorm_per_layer)
                                 : "as the model");
  return loaded;
}

}  // namespace pw
