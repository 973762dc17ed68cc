#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "app.h"
#include "comma_list.h"
#include "config_file.h"
#include "predict.h"
#include "progress_line.h"
#include "pw/data_paths.h"
#include "stop_request.h"
#include "sweep_file.h"
#include "sweep_options.h"

namespace pw {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostThreads = 1024;

struct Arguments {
  SweepArguments sweep;
  std::optional<fs::path> output;
  bool resume = false;
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
};

// Where rows go, and how far they are.
class Output {
 public:
  Output(const Arguments& arguments, const SweepRecord& record)
      : path_(arguments.output), rows_(record.rows()), line_(std::cerr) {
    line_.is_due();  // nothing to tell yet
    if (path_) {
      file_.emplace(*path_, record, arguments.resume);
      done_ = before_ = file_->rows_done();
    } else {
      std::cout << sweep_header(record.format);
    }
  }

  SweepRows rows_left() const { return {rows_.begin + done_, rows_.end}; }
  bool is_complete() const { return done_ == rows_.count(); }

  void add(const SweepLines& lines) {
    if (file_) {
      file_->append(lines.text);
    } else if (!(std::cout << lines.text << std::flush)) {
      throw DataError("cannot write to the standard output");
    }
    done_ += lines.rows;
    impossible_ += lines.impossible;
    if (line_.is_due()) show_progress();
  }

  void finish(std::uint64_t operator_predictions) {
    if (file_) file_->close();
    if (shown_) line_.finish();
    const std::string target = path_ ? path_->string() : "the standard output";
    const std::size_t written = done_ - before_;
    std::cerr << "wrote " << written << (written == 1 ? " row" : " rows") << " to " << target;
    if (before_ > 0) std::cerr << ", which had " << before_;
    if (impossible_ > 0)
      std::cerr << "; " << impossible_ << " of them impossible, see column error";
    std::cerr << "; " << operator_predictions << " operator predictions in "
              << minutes(line_.seconds()) << '\n';
  }

  std::string stop_message() const {
    return "stopped after " + std::to_string(done_) + " of " + std::to_string(rows_.count()) +
           " rows; " +
           (path_ ? "the same command with --resume goes on"
                  : "with --output FILE a sweep can be resumed");
  }

 private:
  void show_progress() {
    const double seconds = line_.seconds();
    const double rate = static_cast<double>(done_ - before_) / seconds;
    const auto left = static_cast<double>(rows_.count() - done_);
    char text[120];
    std::snprintf(text, sizeof text, "%zu of %zu rows (%.0f %%), %.0f rows/s, ", done_,
                  rows_.count(),
                  100 * static_cast<double>(done_) / static_cast<double>(rows_.count()), rate);
    line_.print(text + (rate > 0 ? minutes(left / rate) : std::string("?")) + " left");
    shown_ = true;
  }

  std::optional<fs::path> path_;
  SweepRows rows_;
  ProgressLine line_;
  std::optional<SweepFile> file_;
  std::size_t before_ = 0;  // rows of an earlier run
  std::size_t done_ = 0;    // rows in the output
  std::size_t impossible_ = 0;
  bool shown_ = false;
};

// Of fp8 models the lm_head alone is a 16-bit product.
std::vector<std::string> families_of(const Sweep& sweep) {
  std::vector<std::string> families = {
      std::string(GemmConfig::kName), std::string(AttentionConfig::kName),
      std::string(RmsNormConfig::kName), std::string(SiluMulConfig::kName)};
  if (std::any_of(sweep.models.begin(), sweep.models.end(),
                  [](const ModelConfig& model) { return model.fp8; })) {
    families.emplace_back(Fp8GemmConfig::kName);
  }
  return families;
}

bool is_parallel(const SweepArguments& arguments) {
  const auto beyond_one = [](std::int64_t size) { return size > 1; };
  return std::any_of(arguments.tp_sizes.begin(), arguments.tp_sizes.end(), beyond_one) ||
         std::any_of(arguments.pp_sizes.begin(), arguments.pp_sizes.end(), beyond_one);
}

std::string engine_provenance(const std::optional<EngineProfile>& engine) {
  if (!engine) return "none";
  std::string text = engine->described() + " of " +
                     file_provenance(find_data_file("config/engines/" + engine->name + ".json"));
  return engine->left_out.empty() ? text : text + " without " + comma_list(engine->left_out);
}

int sweep(const Arguments& arguments) {
  const SweepArguments& options = arguments.sweep;
  const HardwareCatalog catalog = hardware_catalog(options.predictor);
  const std::vector<const HardwareSpec*> gpus = requested_gpus(catalog, options.predictor);
  LoadedSweep loaded = load_sweep(options, gpus);
  const ModelSet models = load_models(options.predictor, families_of(loaded.sweep), false);
  LoadedCollectives collectives;
  if (is_parallel(options)) collectives = load_collectives(options.predictor);
  const std::optional<EngineProfile> engine = engine_profile(options.engine, options.predictor);

  SweepRecord record;
  record.grid = loaded.sweep.grid;
  record.format = loaded.sweep.format;
  record.shard = options.shard;
  record.shards = options.shards;
  record.inputs = {{"tool", std::string("pw-predict ") + PW_VERSION},
                   {"engine", engine_provenance(engine)}};
  for (const auto& inputs :
       {loaded.inputs, predictor_inputs(options.predictor, models, collectives)}) {
    record.inputs.insert(record.inputs.end(), inputs.begin(), inputs.end());
  }

  std::vector<OperatorPredictor> predictors;
  const OperatorPredictorOptions predictor_settings = predictor_options(options.predictor);
  for (const HardwareSpec* gpu : gpus) predictors.emplace_back(*gpu, models, predictor_settings);
  const SweepEvaluator evaluator(std::move(predictors), std::move(collectives.catalog), engine);

  const StopRequest stop_request;
  Output output(arguments, record);
  run_sweep(loaded.sweep, evaluator, output.rows_left(), arguments.threads, StopRequest::is_made,
            [&](const SweepLines& lines) { output.add(lines); });
  output.finish(evaluator.operator_predictions());
  if (!output.is_complete()) {
    std::cerr << "pw-predict: " << output.stop_message() << '\n';
    return kStopped;
  }
  return kDone;
}

constexpr char kExamples[] =
    "Example:\n"
    "  pw-predict sweep --models Qwen3-32B,Llama-3.1-70B --hardware all --tp 1,2,4,8 --batch "
    "1,8,64 --input-len 1000,8000 --output-len 256 --output grid.csv\n"
    "On several machines: --shard 1/16 ... --shard 16/16, then pw-predict merge. Columns, units, "
    "Slurm and GNU parallel: docs/sweep.md.";

}  // namespace

void add_predict_sweep(cli::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  cli::App* sweep_app = app.add_subcommand(
      "sweep", "Predict every combination of models, GPUs, parallelism and requests: a row each");
  sweep_app->footer(kExamples);
  add_sweep_options(*sweep_app, arguments->sweep);
  cli::Option* output =
      sweep_app->add_option("--output", arguments->output, "File; default: standard output")
          ->option_text("FILE")
          ->group("Output");
  sweep_app
      ->add_flag("--resume", arguments->resume,
                 "Keep the rows that the file has and go on behind them")
      ->needs(output)
      ->group("Output");
  sweep_app->add_option("--threads", arguments->threads, "Threads (one per core)")
      ->check(cli::Range(std::size_t{1}, kMostThreads))
      ->option_text("N")
      ->group("Output");
  add_config_option(*sweep_app);
  sweep_app->parse_complete_callback([&action, sweep_app, arguments] {
    check_sweep_options(*sweep_app, arguments->sweep);
    action = [arguments] { return sweep(*arguments); };
  });
}

}  // namespace pw
